import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { processEnvironment } from "@millrace/base/config";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

export const serverMain = path.resolve(import.meta.dirname, "../../packages/mcp/src/main.ts");

/** What a tool answered, decoded. */
export interface Answer {
  readonly isError: boolean;
  readonly text: string;
  readonly bytes: number;
  /** The answer's fields; empty for an error. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A place of its own for one test file: workspace, output root, cache root, configuration. */
export class Place {
  readonly home: string;
  readonly workspace: string;
  readonly cacheRoot: string;

  constructor(workspace?: string) {
    this.home = mkdtempSync(path.join(tmpdir(), "millrace-mcp-test-"));
    this.workspace = path.join(this.home, "workspace");
    this.cacheRoot = path.join(this.home, "cache");
    if (workspace === undefined) {
      mkdirSync(this.workspace);
      writeFileSync(path.join(this.workspace, "WORKSPACE"), "");
    } else cpSync(workspace, this.workspace, { recursive: true });
  }

  get outputUserRoot(): string {
    return path.join(this.home, "output");
  }

  /** A program in the place of Bazel: a shell script. */
  fakeBazel(script: string): string {
    const file = path.join(this.home, "fake-bazel");
    writeFileSync(file, `#!/bin/sh\n[ "$1" = --version ] && { echo bazel 8.4.2; exit 0; }\n${script}\n`);
    chmodSync(file, 0o755);
    return file;
  }

  config(lines: readonly string[]): string {
    const file = path.join(this.home, "mcp.toml");
    writeFileSync(file, lines.join("\n"));
    return file;
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A server process with the official client connected to it. */
export class Session {
  readonly client: Client;
  readonly pid: number;

  private constructor(client: Client, pid: number) {
    this.client = client;
    this.pid = pid;
  }

  static async open(place: Place, args: readonly string[] = []): Promise<Session> {
    const { PATH = "", HOME = "" } = processEnvironment();
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [serverMain, "--cache-root", place.cacheRoot, "--encoding", "text", ...args],
      env: { PATH, HOME, TMPDIR: tmpdir() },
      stderr: "inherit",
    });
    const client = new Client({ name: "test", version: "1" });
    await client.connect(transport);
    return new Session(client, transport.pid ?? 0);
  }

  async call(name: string, args: Record<string, unknown>): Promise<Answer> {
    const result = await this.client.callTool({ name, arguments: args }, undefined, { timeout: 120_000 });
    return readAnswer(result);
  }

  async close(): Promise<void> {
    await this.client.close();
  }
}

/** An answer in JSON, or, when `encoding` says so, in the default encoding, whose fields are left unread. */
export function readAnswer(result: unknown, encoding: "text" | "toon" = "text"): Answer {
  const { content, isError } = result as { content: { text: string }[]; isError?: boolean };
  const text = content[0]?.text ?? "";
  return {
    isError: isError === true,
    text,
    bytes: Buffer.byteLength(text),
    fields: isError === true || encoding === "toon" ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

/** Waits for a condition; the test's own timeout bounds it. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
