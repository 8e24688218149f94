import { ApiProblem } from "@millrace/client/client";
import { readLog } from "@millrace/client/log";
import { pause } from "../api/pause.ts";
import type { LogAnswer, LogName, LogRequest } from "./log-protocol.ts";
import { TerminalLog } from "./terminal-log.ts";

/** The page hears of new lines at most this often: about every third frame. */
const tellPeriodMs = 50;
const retryDelayMs = 1_000;

const log = new TerminalLog();
const ended = new AbortController();
let name: LogName | undefined;
let total = 0;
let isReading = false;
let isTelling = false;

self.onmessage = (message: MessageEvent<LogRequest>): void => {
  const request = message.data;
  if (request.kind === "lines") {
    answerLines(request);
    return;
  }
  if (request.kind === "open") name = request.log;
  total = Math.max(total, request.total);
  void read();
};

/** Reads on from the last byte until all that is there was read; what breaks off is asked for again. */
async function read(): Promise<void> {
  if (isReading || name === undefined) return;
  isReading = true;
  while (log.bytes.length < total) {
    const before = log.bytes.length;
    try {
      const part = { ...name, from: before };
      const on = { bytes: append, signal: ended.signal };
      const answer = await readLog({ origin: "" }, part, on);
      total = Math.max(total, answer.total);
    } catch (error) {
      const message = error instanceof ApiProblem ? error.message : "The server does not answer.";
      post({ kind: "trouble", message });
      await pause(retryDelayMs, ended.signal);
    }
  }
  isReading = false;
  tellSoon();
}

function append(piece: Uint8Array): void {
  log.append(piece);
  tellSoon();
}

function tellSoon(): void {
  if (isTelling) return;
  isTelling = true;
  setTimeout(() => {
    isTelling = false;
    post({ kind: "size", size: { lineCount: log.lineCount, bytes: log.bytes.length, total } });
  }, tellPeriodMs);
}

function answerLines(request: Extract<LogRequest, { kind: "lines" }>): void {
  const lines = [];
  const to = Math.min(request.to, log.lineCount);
  for (let line = request.from; line < to; line++) lines.push(log.line(line));
  post({
    kind: "lines",
    from: request.from,
    lines,
    stylesFrom: request.styles,
    styles: log.styles.since(request.styles),
  });
}

function post(answer: LogAnswer): void {
  self.postMessage(answer);
}
