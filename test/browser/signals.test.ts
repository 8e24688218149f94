import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tool } from "../tools.ts";
import { type Dashboard, startDashboard } from "./dashboard.ts";

const chromium = await tool("chromium");
const patienceMs = 60_000;

describe.skipIf(chromium.kind === "missing")("the Signals page in Chromium", () => {
  let dashboard: Dashboard;

  beforeAll(async () => {
    if (chromium.kind === "found") dashboard = await startDashboard(chromium.path);
  });
  afterAll(() => dashboard[Symbol.asyncDispose]());

  const run = (text: string) => dashboard.database.sql.unsafe(text);
  const shows = (page: Page, text: string | RegExp) =>
    page.getByText(text).first().waitFor({ state: "visible", timeout: patienceMs });
  const row = (page: Page, name: RegExp) => page.getByRole("row", { name });

  async function seed(): Promise<void> {
    await run(`
      insert into signal_queue_configs (name, project_id, origin, config, version, updated_at) values
        ('main', 'default', 'file', '{"runner":{"kind":"millrace"},"max_concurrent":3,"max_validation_ms":21600000}', 1, now()),
        ('release', 'default', 'file', '{"runner":{"kind":"fake"},"max_concurrent":1}', 1, now());
      insert into signal_queues (name, project_id, last_green_uri, last_green_request_id, latest_request_id, slots, version)
        values ('main', 'default', 'git:mono@aaaaaaaa00000000000000000000000000000001', 'request/main/1', 'request/main/6',
          '[{"owner":"request/main/5","claimedAtMs":1893456000000,"expiresAtMs":1893459600000}]', 9);
      insert into signal_builds (id, queue, handle, request_id, status, url, metadata, created_at, deadline_at, version)
        values ('main/b', 'main', 'b', 'request/main/5', 'running', '', '{"invocationId":"inv-5"}',
          now() - interval '9 minutes', now() + interval '5 hours', 1);
      insert into signal_requests (id, queue, number, uri, strategy, base_uri, state, reason, build_id, created_at, version)
        select 'request/main/' || n, 'main', n, 'git:mono@' || repeat(c, 8) || lpad(n::text, 32, '0'), strategy,
          case strategy when 'full' then '' else 'git:mono@aaaaaaaa00000000000000000000000000000001' end,
          state, reason, build, now() - make_interval(mins => 70 - 10 * n), 1
        from (values (1, 'a', 'full', 'succeeded', null, null), (2, 'b', 'incremental_since_green', 'failed', null, null),
          (3, 'c', 'incremental_since_green', 'failed', 'timed_out', null), (4, 'd', 'full', 'superseded', null, null),
          (5, 'e', 'incremental_since_green', 'processing', null, 'main/b'), (6, 'f', 'full', 'accepted', null, null))
          v(n, c, strategy, state, reason, build);
      insert into signal_request_log (request_id, queue, at, who, from_state, to_state, reason) values
        ('request/main/3', 'main', now() - interval '40 minutes', 'ingest', '', 'accepted', null),
        ('request/main/3', 'main', now() - interval '39 minutes', 'process', 'accepted', 'processing', null),
        ('request/main/3', 'main', now() - interval '12 minutes', 'buildsignal', 'processing', 'failed', 'timed_out'),
        ('request/main/1', 'main', now() - interval '51 minutes', 'buildsignal', 'processing', 'succeeded', null),
        ('request/main/2', 'main', now() - interval '47 minutes', 'buildsignal', 'processing', 'failed', null)`);
  }

  test("a newcomer is told how a queue is made, and finds the page by its name or by keys", async () => {
    const { page, complaints, leave } = await dashboard.open("/p/default");
    await page.getByRole("link", { name: "Signals" }).click();
    await shows(page, "No queue validates commits yet");
    await page.keyboard.press("g");
    await page.keyboard.press("b");
    await page.waitForURL("**/p/default");
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.waitForURL("**/p/default/signals");
    expect(complaints).toEqual([]);
    await leave();
  });

  test("queues, slots, states and reasons stand there, and an end comes by itself", async () => {
    await seed();
    const { page, complaints, leave } = await dashboard.open("/p/default/signals");
    await page.getByRole("img", { name: "1 of 3 slots taken" }).waitFor();
    await shows(page, "1 request waiting");
    await shows(page, "6h 00m");
    await page.getByRole("button", { name: "#5" }).click();
    await page.waitForURL(/request=5/);
    await page.keyboard.press("Escape");
    await row(page, /aaaaaaaa.*Green/).waitFor();
    await row(page, /bbbbbbbb.*Broken/).waitFor();
    await row(page, /cccccccc.*Timed out/).waitFor();
    await row(page, /eeeeeeee.*Validating/).waitFor();
    await run(`update signal_requests set state = 'succeeded', version = 2 where number = 5;
      update signal_queues set last_green_uri = 'git:mono@eeeeeeee00000000000000000000000000000005', slots = '[]'`);
    await row(page, /eeeeeeee.*Green/).waitFor({ timeout: patienceMs });
    await page.getByRole("img", { name: "0 of 3 slots taken" }).waitFor();
    expect(complaints).toEqual([]);
    await leave();
  });

  test("the address holds queue, state and request; a request tells its history and leads to its build", async () => {
    const { page, leave } = await dashboard.open("/p/default/signals?queue=main&state=failed&request=3");
    await shows(page, "Its build was not over by its deadline.");
    await page.getByRole("region", { name: "History" }).getByText("Admitted").waitFor();
    expect(await row(page, /Green/).count()).toBe(0);
    await page.keyboard.press("Escape");
    await page.getByRole("complementary").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "All" }).click();
    await row(page, /eeeeeeee/).click();
    await page.waitForURL(/request=5/);
    expect(await page.getByRole("link", { name: "Open the build" }).getAttribute("href")).toBe(
      "/p/default/i/inv-5",
    );
    await page.getByRole("link", { name: /release/ }).click();
    await shows(page, "millrace signal ingest release COMMIT");
    await leave();
  });

  test("a queue that an operator stopped says so, and one with dead letters too", async () => {
    await run(`insert into signal_gates values ('process', 'main', 'the runner is repaired', now());
      insert into signal_dead_letters (topic, group_name, partition_key, message_id, payload, metadata, failures,
        first_reason, last_reason, first_failed_at, last_failed_at)
      values ('build', 'millrace-build', 'k', 'm', '{"queue_name":"main"}', '{}', 8, 'r', 'r', now(), now())`);
    const { page, leave } = await dashboard.open("/p/default/signals");
    await shows(page, /Stopped by an operator .*: the runner is repaired/);
    await shows(page, "1 open dead letter");
    await leave();
  });

  test("on a phone nothing is wider than the screen", async () => {
    const { page, leave } = await dashboard.open("/p/default/signals?request=3", {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
    });
    await shows(page, "Its build was not over by its deadline.");
    const width = await page.evaluate("document.documentElement.scrollWidth");
    expect(width).toBe(390);
    await page.getByRole("button", { name: "Close the details" }).click();
    // The columns that a phone leaves out take no room from the others.
    const age = await page
      .getByRole("cell", { name: /^1h$|^\d\dm$/ })
      .first()
      .boundingBox();
    expect(age?.width).toBe(48);
    await leave();
  });
});
