import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { BazelRun, BazelWorkspace } from "./bazel.ts";
import type { Cluster } from "./cluster.ts";

/** What is to be built of which commit. */
const commands: Readonly<Record<string, readonly string[]>> = {
  "0000001": ["test", "//:pass_test"],
  "0000002": ["test", "//bad:all", "-k", "--test_timeout=3,3,3,3"],
  "0000003": ["build", "//loaderr:all"],
  "0000004": ["build", "//slow:sleep"],
};

/** Starts Bazel when it is asked to, as a machine that builds for Millrace would. */
export class Builder {
  private readonly server: Server = createServer((request, response) => void this.answer(request, response));
  readonly runs: Promise<BazelRun>[] = [];
  private readonly clients = new Map<string, ChildProcess>();
  private readonly at: { workspace: BazelWorkspace; cluster: Cluster };

  constructor(at: { workspace: BazelWorkspace; cluster: Cluster }) {
    this.at = at;
  }

  /** The part of a `millrace` runner's configuration that leads here. */
  get start() {
    return {
      kind: "http",
      base_url: `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`,
      request: { method: "POST", path: "builds", body: { commit: "{head_commit}", id: "{invocation_id}" } },
      cancel: { method: "DELETE", path: "builds/{invocation_id}" },
    };
  }

  async listen(): Promise<void> {
    this.server.listen(0, "127.0.0.1");
    await once(this.server, "listening");
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const piece of request) body += piece;
    if (request.method === "POST") this.build(JSON.parse(body));
    else this.clients.get(request.url?.split("/").at(-1) ?? "")?.kill("SIGINT");
    response.writeHead(202).end();
  }

  private build(wanted: { commit: string; id: string }): void {
    const [command = "", ...args] = commands[wanted.commit] ?? [];
    const flags = [`--invocation_id=${wanted.id}`, `--bes_backend=grpc://${this.at.cluster.grpcAddress}`];
    const onStart = (client: ChildProcess) => void this.clients.set(wanted.id, client);
    this.runs.push(this.at.workspace.run([command, ...flags, ...args], onStart));
  }
}

export async function startBuilder(at: { workspace: BazelWorkspace; cluster: Cluster }): Promise<Builder> {
  const builder = new Builder(at);
  await builder.listen();
  return builder;
}
