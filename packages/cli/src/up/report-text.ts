import { errorText } from "@millrace/base/errors";
import type { Level } from "../logs/log-line.ts";
import type { PartCause, PartReport } from "../supervise/part.ts";
import { describeExit } from "./own-process.ts";

/** What the log says of a part's news. */
export function reportText(report: PartReport): { level: Level; message: string } {
  const { part } = report;
  switch (report.kind) {
    case "restarting": {
      const when = report.delayMs === 0 ? "now" : `in ${report.delayMs / 1000} s`;
      if (!report.isLoop) return warn(`${part} ${died(report.cause)}; it is started again ${when}`);
      const message =
        `${part} ${died(report.cause)}, ${report.deaths} times in a row, each soon after its start: it needs ` +
        `help. Its lines above may say why; it is started again ${when}`;
      return { level: "error", message };
    }
    case "back":
      return { level: "info", message: `${part} is back` };
    case "given-up":
      return { level: "error", message: `${part} ${died(report.cause)} and stays away (--no-restart)` };
    case "failed":
      return { level: "debug", message: `${part} did not start` };
    case "stopped":
      return { level: "debug", message: `${part} is stopped` };
  }
}

function died(cause: PartCause | undefined): string {
  if (cause === undefined) return "died";
  return cause.kind === "exit"
    ? `died (${describeExit(cause.exit)})`
    : `did not come up (${errorText(cause.error)})`;
}

function warn(message: string): { level: Level; message: string } {
  return { level: "warn", message };
}
