import { expect, test } from "vitest";
import type { PartReport } from "../supervise/part.ts";
import { reportText } from "./report-text.ts";

const killed = { kind: "exit", exit: { code: null, signal: "SIGKILL" } } as const;
const broken = { kind: "error", error: new Error("no room on the disk") } as const;

test.each<[PartReport, string, string]>([
  [
    { kind: "restarting", part: "nats", cause: killed, delayMs: 0, deaths: 1, isLoop: false },
    "warn",
    "nats died (killed by SIGKILL); it is started again now",
  ],
  [
    { kind: "restarting", part: "nats", cause: broken, delayMs: 500, deaths: 2, isLoop: false },
    "warn",
    "nats did not come up (no room on the disk); it is started again in 0.5 s",
  ],
  [
    { kind: "restarting", part: "api", cause: killed, delayMs: 10_000, deaths: 9, isLoop: true },
    "error",
    "api died (killed by SIGKILL), 9 times in a row, each soon after its start: it needs help. Its lines above may say why; it is started again in 10 s",
  ],
  [{ kind: "back", part: "api", cause: killed }, "info", "api is back"],
  [
    { kind: "given-up", part: "api", cause: killed },
    "error",
    "api died (killed by SIGKILL) and stays away (--no-restart)",
  ],
])("%j", (report, level, message) => {
  expect(reportText(report)).toEqual({ level, message });
});
