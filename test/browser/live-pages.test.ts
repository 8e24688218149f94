import { randomUUID } from "node:crypto";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { SeededBuild } from "../seed/seed-build.ts";
import { tool } from "../tools.ts";
import { type Dashboard, startDashboard } from "./dashboard.ts";

const chromium = await tool("chromium");
/** Runs in the page, whose types this program does not know. */
const colour = (element: unknown): string => {
  const page = globalThis as unknown as { getComputedStyle(of: unknown): { color: string } };
  return page.getComputedStyle(element).color;
};
const eventually = { timeout: 60_000, interval: 50 };

describe.skipIf(chromium.kind === "missing")("the dashboard in Chromium", () => {
  let dashboard: Dashboard;

  beforeAll(async () => {
    if (chromium.kind === "found") dashboard = await startDashboard(chromium.path);
  });
  afterAll(() => dashboard[Symbol.asyncDispose]());

  function seed(row: Record<string, unknown> = {}, invocationId = randomUUID()): Promise<SeededBuild> {
    return dashboard.seed({
      invocationId,
      row: { command: "test", patterns: ["//..."], user: "ann", startedAt: new Date(), ...row },
    });
  }

  const shows = (page: Page, text: string | RegExp) =>
    page.getByText(text).first().waitFor({ state: "visible", timeout: eventually.timeout });

  test("a newcomer sees the lines to paste, and then the first build by itself", async () => {
    const { page, complaints, leave } = await dashboard.open("/");
    await shows(page, "build --bes_backend=grpc://builds.test:1985");
    await shows(page, /build --bes_results_url=http:\/\/localhost:\d+\/i/);
    const build = await seed({ patterns: ["//first:one"] });
    dashboard.digest(build);
    await shows(page, "//first:one");
    await page.getByRole("link", { name: /first:one/ }).click();
    await shows(page, "Running");
    expect(page.url()).toContain(`/p/default/i/${build.invocationId}`);
    expect(complaints).toEqual([]);
    await build.end({ status: "succeeded", exitCode: 0 });
    await leave();
  });

  test("the link that Bazel prints leads to the build", async () => {
    const build = await seed();
    const { page, leave } = await dashboard.open(`/i/${build.invocationId}`);
    await page.waitForURL(`**/p/default/i/${build.invocationId}`);
    await build.end({ status: "succeeded", exitCode: 0 });
    await leave();
  });

  test("the link works before the first event is stored", async () => {
    const invocationId = randomUUID();
    const { page, leave } = await dashboard.open(`/i/${invocationId}`);
    await shows(page, "Waiting for this build");
    const build = await seed({}, invocationId);
    await page.waitForURL(`**/p/default/i/${invocationId}`);
    await build.end({ status: "succeeded", exitCode: 0 });
    await leave();
  });

  test("a running build moves: counts, failures, rows, and its end", async () => {
    const build = await seed();
    await build.targets([
      { label: "//a:lib", status: "built" },
      { label: "//b:lib", status: "configured" },
    ]);
    const { page, complaints, leave } = await dashboard.open(`/p/default/i/${build.invocationId}`);
    await shows(page, "Running: 1 of 2 targets done");
    await build.targets([{ label: "//b:lib", status: "failed", failureMessage: "b does not compile" }]);
    dashboard.digest(build, ["//b:lib"]);
    await shows(page, "Running: 2 of 2 targets done, 1 failed so far");
    await shows(page, "b does not compile");
    await page.getByRole("link", { name: /^Targets/ }).click();
    await page
      .getByRole("row", { name: /\/\/b:lib/ })
      .getByText("Failed")
      .waitFor();
    await build.targets([{ label: "//c:lib", status: "built" }]);
    dashboard.digest(build, ["//c:lib"]);
    await page.getByRole("row", { name: /\/\/c:lib/ }).waitFor();
    await build.tests([{ label: "//a:test", status: 1 }]);
    dashboard.digest(build, ["//a:test"]);
    await page.getByRole("link", { name: /^Tests/ }).click();
    await page.getByRole("row", { name: /\/\/a:test/ }).waitFor();
    await build.end({ status: "failed", exitCode: 1, exitCodeName: "BUILD_FAILURE" });
    dashboard.digest(build);
    await shows(page, "Failed: 1 target");
    await shows(page, "exit 1 (BUILD_FAILURE)");
    expect(complaints).toEqual([]);
    await leave();
  });

  test("the log grows under the reader, in colour, and lines are written over", async () => {
    const build = await seed();
    await build.log("\u001b[32mINFO:\u001b[0m begins\n[1 / 9] compiling\n");
    const { page, complaints, leave } = await dashboard.open(`/p/default/i/${build.invocationId}/log`);
    await shows(page, "[1 / 9] compiling");
    const green = await page.getByText("INFO:").evaluate(colour);
    const plain = await page.getByText("begins").evaluate(colour);
    expect(green).not.toBe(plain);
    await build.log(`\r\u001b[1A\u001b[K[9 / 9] linking\n${"more\n".repeat(500)}the end\n`);
    dashboard.digest(build);
    await shows(page, "the end");
    await vi.waitFor(async () => expect(await page.getByText("503 lines").count()).toBe(1), eventually);
    await page.getByRole("link", { name: "Line 503" }).click();
    await page.waitForURL("**/log?line=503");
    await page.getByRole("button", { name: "Follow" }).click();
    await page.getByRole("region", { name: "Log" }).evaluate((element) => element.scrollTo({ top: 0 }));
    await shows(page, "[9 / 9] linking");
    expect(await page.getByText("[1 / 9] compiling").count()).toBe(0);
    await build.end({ status: "succeeded", exitCode: 0 });
    expect(complaints).toEqual([]);
    await leave();
  });

  test("new builds do not move what the reader looks at", async () => {
    for (let at = 0; at < 60; at++) {
      const old = await seed({ patterns: [`//old:${at}`] });
      await old.end({ status: "succeeded", exitCode: 0 });
    }
    const { page, complaints, leave } = await dashboard.open("/p/default");
    await shows(page, "//old:59");
    const list = page.getByRole("list", { name: "Builds" }).locator("xpath=..");
    await list.evaluate((element) => element.scrollTo({ top: 400 }));
    const row = page.getByText("//old:45", { exact: true });
    await row.waitFor();
    const before = await row.boundingBox();
    const fresh = await seed({ patterns: ["//fresh:one"] });
    dashboard.digest(fresh);
    await shows(page, "1 new build");
    await vi.waitFor(async () => expect((await row.boundingBox())?.y).toBe(before?.y), eventually);
    await page.getByRole("button", { name: "1 new build" }).click();
    await shows(page, "//fresh:one");
    await fresh.end({ status: "succeeded", exitCode: 0 });
    expect(complaints).toEqual([]);
    await leave();
  });

  test("everything is reached by keys", async () => {
    for (const pattern of ["//key:second", "//key:first"]) {
      const build = await seed({ patterns: [pattern] });
      await build.end({ status: "succeeded", exitCode: 0 });
    }
    const { page, complaints, leave } = await dashboard.open("/p/default");
    await shows(page, "//key:first");
    // The body, which has the focus before any row, holds every text.
    const focused = () => page.evaluate("document.activeElement?.closest('a')?.textContent ?? ''");
    await page.keyboard.press("j");
    await vi.waitFor(async () => expect(await focused()).toContain("//key:first"), eventually);
    await page.keyboard.press("j");
    await vi.waitFor(async () => expect(await focused()).toContain("//key:second"), eventually);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/i/*");
    await page.getByRole("link", { name: "Overview" }).waitFor();
    await page.keyboard.press("]");
    await page.waitForURL("**/details");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByText("Go to the builds").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("b");
    await page.waitForURL("**/p/default");
    await page.keyboard.press("/");
    await page.keyboard.type("nobody");
    await shows(page, "No build fits");
    await vi.waitFor(() => expect(page.url()).toContain("user=nobody"), eventually);
    await page.goBack();
    expect(complaints).toEqual([]);
    await leave();
  });

  test("a phone shows the same without scrolling sideways", async () => {
    const build = await seed({
      patterns: ["//services/with/a/very/long/name/...", "//another/long/name:target"],
    });
    await build.log(`${"long ".repeat(100)}\n`);
    const paths = [
      "/p/default",
      `/p/default/i/${build.invocationId}`,
      `/p/default/i/${build.invocationId}/details`,
    ];
    for (const path of paths) {
      const { page, leave } = await dashboard.open(path, { viewport: { width: 390, height: 844 } });
      await page.getByRole("heading", { level: 1 }).waitFor();
      const isWider = () => page.evaluate("document.documentElement.scrollWidth > innerWidth");
      expect([path, await isWider()]).toEqual([path, false]);
      await leave();
    }
    await build.end({ status: "succeeded", exitCode: 0 });
  });
});
