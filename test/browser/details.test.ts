import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tool } from "../tools.ts";
import { type Dashboard, startDashboard } from "./dashboard.ts";

const chromium = await tool("chromium");
const patienceMs = 60_000;

describe.skipIf(chromium.kind === "missing")("the details of a build in Chromium", () => {
  let dashboard: Dashboard;

  beforeAll(async () => {
    if (chromium.kind === "found") dashboard = await startDashboard(chromium.path);
  });
  afterAll(() => dashboard[Symbol.asyncDispose]());

  test("tell what Bazel counted, was called with, and could not do; on a phone too", async () => {
    const build = await dashboard.seed({
      invocationId: randomUUID(),
      status: "failed",
      row: { command: "build" },
    });
    const id = build.attemptId;
    await dashboard.database.sql.unsafe(`
      insert into invocation_metrics (attempt_id, wall_time_ms, packages_loaded, action_cache_hits, action_cache_misses)
        values (${id}, 83000, 41, 7, 3);
      insert into invocation_details (attempt_id, options, explicit_options, build_metadata)
        values (${id}, '{--jobs=8,--color=no}', '{--jobs=8}', '{"TICKET":"MILL-7"}');
      insert into actions (attempt_id, sequence, success, mnemonic, label, exit_code, failure_message, command_line)
        values (${id}, 9, false, 'CppCompile', '//a:lib', 1, 'it does not compile', '{gcc,-c,lib.cc}');
      insert into action_counts (attempt_id, mnemonic, succeeded, failed, duration_ms) values (${id}, 'CppCompile', 3, 1, 2500);
      insert into problems (attempt_id, sequence, kind, subject, reason, description)
        values (${id}, 5, 'pattern', '//no/such:all', 'LOADING_FAILURE', 'no such package');
      insert into configurations (attempt_id, id, mnemonic, cpu, is_tool) values (${id}, 'c0ffee', 'k8-opt', 'k8', false)`);
    const shown = [
      ...["Failed actions", "it does not compile", "gcc -c lib.cc", "3 went well, 1 failed, 2.5 s"],
      ...[
        "Loading failure",
        "no such package",
        "MILL-7",
        "--jobs=8",
        "--color=no",
        "k8-opt, k8",
        "7 of 10 up to date",
      ],
    ];
    for (const width of [1440, 390]) {
      const { page, complaints, leave } = await dashboard.open(`/p/default/i/${build.invocationId}/details`, {
        viewport: { width, height: 900 },
      });
      for (const text of shown) {
        await page.getByText(text).first().waitFor({ state: "visible", timeout: patienceMs });
      }
      const overflow = await page.evaluate("document.documentElement.scrollWidth - window.innerWidth");
      expect(overflow).toBeLessThanOrEqual(0);
      expect(complaints).toEqual([]);
      await leave();
    }
  });
});
