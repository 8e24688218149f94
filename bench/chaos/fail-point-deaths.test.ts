import { expect, test } from "vitest";
import { FailPointDeaths, failPointEnvironment } from "./fail-point-deaths.ts";

test("every point on the way of a batch can be died at", () => {
  expect(failPointEnvironment.MILLRACE_FAIL_POINT).toMatch(/after-fence\|.*reply-sent.*@20$/);
  expect(failPointEnvironment.MILLRACE_INGEST_FAIL_POINT).toMatch(/sealed\|.*acks-sent@20$/);
});

test("deaths are counted by their point, those that never came as 0", () => {
  const deaths = new FailPointDeaths();
  deaths.hear("writer-1 | dies at the fail point commit-sent");
  deaths.hear("writer-2 | dies at the fail point commit-sent");
  deaths.hear("writer-2 | writer is ready");
  expect(deaths.counts).toMatchObject({ "commit-sent": 2, "after-copy": 0, sealed: 0 });
});
