import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { processEnvironment } from "@millrace/base/config";
import { splitDelimited } from "./frames.ts";

/** One recorded run of a real Bazel. Files are read when asked for. */
export interface CorpusRun {
  /** Such as `bazel7-test-ok`. */
  readonly name: string;
  /** 2, 4 or 7. */
  readonly bazelMajor: number;
  /** Exit code of the `bazel` command; undefined where it was not recorded (several runs in one folder). */
  readonly exitCode: number | undefined;
  /** The command as typed; "" where it was not recorded. */
  readonly commandLine: string;
  /** How many event streams Bazel opened: more than one when the first broke (`…-drop`, `…-unavailable-once`). */
  readonly streamCount: number;
}

const corpusDir = path.resolve(import.meta.dirname, "../corpus");

// Four runs against one remote cache, each with a stream of its own.
const severalRuns = new Set(["bazel7-remote-cache"]);

/** All recorded runs, by name. */
export function listRuns(): CorpusRun[] {
  const entries = readdirSync(corpusDir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => describeRun(entry.name))
    .sort(byName);
}

function byName(a: CorpusRun, b: CorpusRun): number {
  return a.name < b.name ? -1 : 1;
}

/** The run of that name; throws when there is none. */
export function getRun(name: string): CorpusRun {
  return describeRun(name);
}

function describeRun(name: string): CorpusRun {
  const files = readdirSync(path.join(corpusDir, name));
  const exit = readIfThere(name, "exit.txt")?.toString().trim() ?? "";
  return {
    name,
    bazelMajor: Number(/^bazel(\d+)-/.exec(name)?.[1]),
    exitCode: exit === "" ? undefined : Number(exit),
    commandLine: readIfThere(name, "cmdline.txt")?.toString().trim() ?? "",
    streamCount: files.filter((file) => /^stream\d+\.requests\.bin(\.gz)?$/.test(file)).length,
  };
}

/** The `PublishBuildToolEventStreamRequest`s of the stream with that number (from 1), as Bazel sent them. */
export function readStream(run: CorpusRun, stream: number): Buffer[] {
  return splitDelimited(readFile(run.name, `stream${stream}.requests.bin`));
}

/**
 * The streams of a run as invocations: usually one, with each event once although a broken connection made Bazel send
 * some again; four for the folder that holds four runs.
 */
export function readInvocations(run: CorpusRun): Buffer[][] {
  const streams = Array.from({ length: run.streamCount }, (_, index) => readStream(run, index + 1));
  return severalRuns.has(run.name) ? streams : [streams.length === 1 ? (streams[0] ?? []) : join(streams)];
}

/** The `PublishLifecycleEventRequest`s of a run, in the order Bazel sent them. */
export function readLifecycleRequests(run: CorpusRun): Buffer[] {
  const file = readIfThere(run.name, "lifecycle.requests.bin");
  return file === undefined ? [] : splitDelimited(file);
}

/** The events of --build_event_binary_file (bare BEP payloads), or undefined where the run wrote none. */
export function readBinaryEventFile(run: CorpusRun): Buffer[] | undefined {
  const file = readIfThere(run.name, "events.bep");
  return file === undefined ? undefined : splitDelimited(file);
}

/** The lines of --build_event_json_file, or undefined where the run wrote none. */
export function readJsonEventFile(run: CorpusRun): string[] | undefined {
  const file = readIfThere(run.name, "events.ndjson");
  return file
    ?.toString()
    .split("\n")
    .filter((line) => line !== "");
}

/** What Bazel wrote to the terminal (stderr and stdout together), or undefined where it was not recorded. */
export function readConsole(run: CorpusRun): Buffer | undefined {
  return readIfThere(run.name, "console.txt");
}

/** A data file of a public project, which may be read where it is present and is no part of this repository. */
export interface PublicFile {
  /** Path below the folder `public`. */
  readonly name: string;
  readonly path: string;
}

/** Public files whose name ends in `suffix`; none where the folder is absent: then `publicDataSkipReason` says why. */
export function listPublicFiles(suffix: string): PublicFile[] {
  const root = publicDir();
  if (root === undefined) return [];
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(suffix))
    .sort()
    .map((name) => ({ name, path: path.join(root, name) }));
}

/** The sentence of a skipped test, or undefined where the public data is present. */
export function publicDataSkipReason(): string | undefined {
  if (publicDir() !== undefined) return undefined;
  return "skipped: no public data (set MILLRACE_SHARED_DATA or place it at ../shared/data)";
}

function publicDir(): string | undefined {
  const fallback = path.resolve(import.meta.dirname, "../../../shared/data");
  const dir = path.join(processEnvironment().MILLRACE_SHARED_DATA ?? fallback, "public");
  return existsSync(dir) ? dir : undefined;
}

/** Streams of one invocation: a later one begins with events that the earlier had sent too. */
function join(streams: Buffer[][]): Buffer[] {
  const seen = new Set<string>();
  const events: Buffer[] = [];
  for (const request of streams.flat()) {
    // Bazel sends an event again byte for byte, but keywords come with number 1 only and 1 is sent again whole.
    const text = request.toString("latin1");
    if (!seen.has(text)) events.push(request);
    seen.add(text);
  }
  return events;
}

function readFile(run: string, file: string): Buffer {
  const content = readIfThere(run, file);
  if (content === undefined) throw new Error(`no ${file} in the recorded run ${run}`);
  return content;
}

function readIfThere(run: string, file: string): Buffer | undefined {
  const plain = path.join(corpusDir, run, file);
  if (existsSync(plain)) return readFileSync(plain);
  return existsSync(`${plain}.gz`) ? gunzipSync(readFileSync(`${plain}.gz`)) : undefined;
}
