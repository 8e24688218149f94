import { afterEach, describe, expect, it } from "vitest";
import { OpsServer } from "./ops-server.ts";

let server: OpsServer;

async function listen(ports: Partial<ConstructorParameters<typeof OpsServer>[0]> = {}): Promise<string> {
  server = new OpsServer({
    isReady: () => true,
    metrics: async () => "millrace_up 1\n",
    crashThread: undefined,
    ...ports,
  });
  return `http://127.0.0.1:${await server.listen({ host: "127.0.0.1", port: 0 })}`;
}

afterEach(() => server.close());

describe("HTTP for operators", () => {
  it("says whether the process lives and whether it takes streams", async () => {
    let isReady = true;
    const url = await listen({ isReady: () => isReady });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    isReady = false;
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
  });

  it("hands out the metrics and nothing else", async () => {
    const url = await listen();
    const metrics = await fetch(`${url}/metrics`);
    expect([metrics.status, await metrics.text()]).toEqual([200, "millrace_up 1\n"]);
    expect(metrics.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect((await fetch(`${url}/etc/passwd`)).status).toBe(404);
  });

  it("kills threads only where fail points are on, and only by POST", async () => {
    const off = await listen();
    expect((await fetch(`${off}/debug/crash-thread/0`, { method: "POST" })).status).toBe(404);
    await server.close();
    const crashed: number[] = [];
    const on = await listen({
      crashThread: (index) => {
        crashed.push(index);
        return index < 2;
      },
    });
    expect((await fetch(`${on}/debug/crash-thread/1`)).status).toBe(404);
    expect((await fetch(`${on}/debug/crash-thread/1`, { method: "POST" })).status).toBe(202);
    expect((await fetch(`${on}/debug/crash-thread/7`, { method: "POST" })).status).toBe(404);
    expect(crashed).toEqual([1, 7]);
  });

  it("says so when its port is taken", async () => {
    const url = await listen();
    const second = new OpsServer({ isReady: () => true, metrics: async () => "", crashThread: undefined });
    const port = Number(new URL(url).port);
    await expect(second.listen({ host: "127.0.0.1", port })).rejects.toMatchObject({
      remedy: "crash",
      code: "ops-bind",
    });
  });
});
