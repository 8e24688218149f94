import { type ChildProcess, execFile, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { silentLog } from "@millrace/base/log";
import { loadZstd, type Zstd } from "@millrace/base/zstd";
import { connect, type Database } from "@millrace/db/connect";
import type { Bus } from "@millrace/proto/bus";
import { liveChannel, liveSubject } from "@millrace/proto/channels";
import { connectBus } from "@millrace/proto/nats-bus";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { type SeedBuild, type SeededBuild, seedBuild } from "../seed/seed-build.ts";
import { freshDatabase } from "../services/database.ts";
import { natsUrl } from "../services/nats.ts";

const packages = join(import.meta.dirname, "../../packages");

/** A loaded machine may take its time; nothing here asserts how long. */
const actionTimeoutMs = 60_000;

/** The dashboard as people get it: built, served by the API's own process, on real PostgreSQL and NATS. */
export class Dashboard {
  readonly origin: string;
  readonly database: Database;
  readonly zstd: Zstd;
  private readonly bus: Bus;
  private readonly browser: Browser;
  private readonly close: () => Promise<void>;

  constructor(of: {
    origin: string;
    database: Database;
    zstd: Zstd;
    bus: Bus;
    browser: Browser;
    close: () => Promise<void>;
  }) {
    this.origin = of.origin;
    this.database = of.database;
    this.zstd = of.zstd;
    this.bus = of.bus;
    this.browser = of.browser;
    this.close = of.close;
  }

  seed(build: SeedBuild): Promise<SeededBuild> {
    return seedBuild(this, build);
  }

  /** What an actor says after a commit. */
  digest(build: SeededBuild, changedLabels: readonly string[] = []): void {
    this.bus.publish(liveChannel, {
      subject: liveSubject(build.project, build.invocationId),
      message: {
        project: build.project,
        invocationId: build.invocationId,
        attempt: build.attempt,
        lastSequence: build.lastSequence,
        logBytes: build.logBytes,
        changedLabels: [...changedLabels],
      },
    });
  }

  /** A page whose complaints are collected: errors, warnings and what the page's policy refused. */
  async open(
    path: string,
    options: BrowserContextOptions = {},
  ): Promise<{ page: Page; complaints: string[]; leave: () => Promise<void> }> {
    const context = await this.browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(actionTimeoutMs);
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith(this.origin)) complaints.push(`leaves the origin: ${request.url()}`);
    });
    await page.goto(this.origin + path);
    return { page, complaints, leave: () => context.close() };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** @param browserPath Chromium's program */
export async function startDashboard(browserPath: string): Promise<Dashboard> {
  const directory = await mkdtemp(join(tmpdir(), "millrace-browser-"));
  const ui = join(directory, "ui");
  await buildUi(ui);
  const store = await freshDatabase();
  const { child, origin } = await startApi({ ui, directory, databaseUrl: store.url });
  const database = connect({ url: store.url, max: 2, name: "browser-test" });
  const bus = await connectBus({ servers: natsUrl(), name: "browser-test", log: silentLog });
  const browser = await chromium.launch({
    executablePath: browserPath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });
  const close = async (): Promise<void> => {
    await browser.close();
    await bus.close();
    await database.close();
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
    await store.drop();
    await rm(directory, { recursive: true, force: true });
  };
  return new Dashboard({ origin, database, zstd: await loadZstd(), bus, browser, close });
}

async function buildUi(into: string): Promise<void> {
  const vite = join(packages, "ui/node_modules/vite/bin/vite.js");
  await promisify(execFile)(process.execPath, [vite, "build", "--outDir", into, "--logLevel", "error"], {
    cwd: join(packages, "ui"),
  });
}

async function startApi(of: {
  ui: string;
  directory: string;
  databaseUrl: string;
}): Promise<{ child: ChildProcess; origin: string }> {
  const child = fork(join(packages, "api/src/main.ts"), {
    env: {
      MILLRACE_HTTP_PORT: "0",
      MILLRACE_DATABASE_URL: of.databaseUrl,
      MILLRACE_NATS_URL: natsUrl(),
      MILLRACE_BLOB_DIRECTORY: join(of.directory, "blobs"),
      MILLRACE_UI_DIRECTORY: of.ui,
      MILLRACE_PUBLIC_GRPC_URL: "grpc://builds.test:1985",
    },
    execArgv: [],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [ready] = (await once(child, "message")) as [{ httpPort: number }];
  return { child, origin: `http://localhost:${ready.httpPort}` };
}
