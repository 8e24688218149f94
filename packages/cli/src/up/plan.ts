import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { ingestSettings } from "@millrace/actors/settings";
import { apiSettings } from "@millrace/api/settings";
import type { Setting } from "@millrace/base/config";
import { buildsignalSettings } from "@millrace/buildsignal/settings";
import { writerSettings } from "@millrace/writer/settings";

const packages = resolve(import.meta.dirname, "../../..");

/** Node keeps compiled code here: it halves the time in which a process that died is back. */
const compileCache = resolve(packages, "../.millrace/cache/compiled");

/** What `millrace up` was asked for. */
export interface UpPlan {
  readonly dataDir: string;
  readonly grpcHost: string;
  readonly httpHost: string;
  /** 0: any free one; likewise the others. */
  readonly grpcPort: number;
  readonly httpPort: number;
  readonly opsPort: number;
  readonly postgresPort: number;
  readonly natsPort: number;
  /** Empty: the embedded one. */
  readonly databaseUrl: string;
  /** Empty: a server of our own. */
  readonly natsUrl: string;
  readonly blobDirectory: string;
  readonly writers: number;
  readonly threads: number;
  readonly logLevel: string;
  readonly usesTls: boolean;
  readonly restarts: boolean;
  /** All else that is set, for the processes to read. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Ports and addresses that are known once something listens. */
export interface Found {
  /** For our own processes: by Unix socket where there is one. */
  databaseUrl: string;
  /** For other commands and programs. */
  databaseTcpUrl: string;
  natsUrl: string;
  grpcPort: number;
  opsPort: number;
  httpPort: number;
}

type Environment = Record<string, string | undefined>;

export const programFiles = {
  writer: join(packages, "writer/src/main.ts"),
  ingest: join(packages, "actors/src/main.ts"),
  api: join(packages, "api/src/main.ts"),
  buildsignal: join(packages, "buildsignal/src/main.ts"),
};

/** Environment of the nth writer, from 1. */
export function writerEnvironment(plan: UpPlan, found: Found, nth: number): Environment {
  const environment = commonEnvironment(plan, found);
  const opsPort = Number(plan.environment[writerSettings.opsPort.environmentName] ?? 0);
  // One setting for several processes: each takes the next port.
  if (opsPort !== 0) set(environment, writerSettings.opsPort, opsPort + nth - 1);
  return environment;
}

/** A port that was found once is kept over restarts, so that clients find it again. */
export function ingestEnvironment(plan: UpPlan, found: Found): Environment {
  const environment = commonEnvironment(plan, found);
  set(environment, ingestSettings.grpcHost, plan.grpcHost);
  set(environment, ingestSettings.grpcPort, found.grpcPort);
  set(environment, ingestSettings.opsPort, found.opsPort);
  set(environment, ingestSettings.workerThreads, plan.threads);
  return environment;
}

export function apiEnvironment(plan: UpPlan, found: Found): Environment {
  const environment = commonEnvironment(plan, found);
  set(environment, apiSettings.httpHost, plan.httpHost);
  set(environment, apiSettings.httpPort, found.httpPort);
  const ui = join(packages, "ui/dist");
  setUnlessGiven(environment, apiSettings.uiDirectory, existsSync(join(ui, "index.html")) ? ui : "");
  setUnlessGiven(environment, apiSettings.publicGrpcUrl, grpcUrl(plan, found));
  return environment;
}

/** Whether there are queues to validate: only then the controller runs. */
export function hasSignalQueues(plan: UpPlan): boolean {
  return Boolean(plan.environment[buildsignalSettings.configFile.environmentName]);
}

export function buildsignalEnvironment(plan: UpPlan, found: Found): Environment {
  return commonEnvironment(plan, found);
}

const mebibyte = 1024 * 1024;

/**
 * glibc gives memory back to the system at once and takes it again for the next buffer, a page fault for every 4 KiB of
 * it; where faults are dear (virtual machines) that was 5-10 % of all there is. Other C libraries ignore these.
 */
const allocator: Environment = {
  MALLOC_TRIM_THRESHOLD_: String(128 * mebibyte),
  MALLOC_MMAP_THRESHOLD_: String(4 * mebibyte),
  MALLOC_TOP_PAD_: String(4 * mebibyte),
};

function commonEnvironment(plan: UpPlan, found: Found): Environment {
  const environment: Environment = { NODE_COMPILE_CACHE: compileCache, ...allocator, ...plan.environment };
  set(environment, writerSettings.databaseUrl, found.databaseUrl);
  set(environment, writerSettings.natsUrl, found.natsUrl);
  set(environment, ingestSettings.blobDirectory, plan.blobDirectory);
  set(environment, ingestSettings.logLevel, plan.logLevel);
  return environment;
}

function set(environment: Environment, setting: Setting<unknown>, value: string | number): void {
  environment[setting.environmentName] = String(value);
}

function setUnlessGiven(environment: Environment, setting: Setting<unknown>, value: string): void {
  if (!environment[setting.environmentName]) set(environment, setting, value);
}

/** What follows `--bes_backend=`. */
export function grpcUrl(plan: UpPlan, found: Found): string {
  return `${plan.usesTls ? "grpcs" : "grpc"}://${shownHost(plan.grpcHost)}:${found.grpcPort}`;
}

/** Of dashboard and API, without a slash at its end. */
export function httpUrl(plan: UpPlan, found: Found): string {
  return `http://${shownHost(plan.httpHost)}:${found.httpPort}`;
}

export function opsUrl(plan: UpPlan, found: Found): string {
  const host = plan.environment[ingestSettings.opsHost.environmentName] || ingestSettings.opsHost.fallback;
  return `http://${shownHost(host)}:${found.opsPort}`;
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

/** A name under which others reach what listens on `host`. */
function shownHost(host: string): string {
  if (isLoopback(host)) return "localhost";
  if (host === "0.0.0.0" || host === "::") return hostname();
  return host.includes(":") ? `[${host}]` : host;
}
