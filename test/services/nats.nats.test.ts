import { connect } from "@nats-io/transport-node";
import { expect, test } from "vitest";
import { natsUrl, ownNatsServer } from "./nats.ts";

test("the run's server answers, and a server of one's own is another one", async () => {
  await using own = await ownNatsServer();
  const ids: string[] = [];
  for (const servers of [natsUrl(), own.server.url]) {
    const connection = await connect({ servers });
    ids.push(connection.info?.server_id ?? "");
    await connection.close();
  }
  expect(new Set(ids).size).toBe(2);
});
