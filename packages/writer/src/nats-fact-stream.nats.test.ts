import { silentLog } from "@millrace/base/log";
import { eventsChannel } from "@millrace/proto/channels";
import { connectBus, type NatsBus } from "@millrace/proto/nats-bus";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { expect, test } from "vitest";
import { ownNatsServer } from "../../../test/services/nats.ts";
import { natsFactStream } from "./nats-fact-stream.ts";

/** A server without other tests' facts, and a bus on it. */
async function setUp(): Promise<AsyncDisposable & { bus: NatsBus }> {
  const own = await ownNatsServer();
  const bus = await connectBus({ servers: own.server.url, name: "facts", log: silentLog });
  return {
    bus,
    [Symbol.asyncDispose]: async () => {
      await bus.close();
      await own[Symbol.asyncDispose]();
    },
  };
}

const fact = { subject: "events.default.invocation.started", json: '{"id":"m1"}', messageId: "m1" };

test("the stream is made once, whoever comes first, and keeps its identity", async () => {
  await using world = await setUp();
  const streams = [1, 2, 3].map(() => natsFactStream(world.bus.connection));
  const identities = await Promise.all(streams.map((stream) => stream.identity()));
  expect(new Set(identities).size).toBe(1);
  expect(await streams[0]?.identity()).toBe(identities[0]);
});

test("a fact arrives with its content; sent again it is stored once", async () => {
  await using world = await setUp();
  const stream = natsFactStream(world.bus.connection);
  await stream.identity();
  await stream.publish(fact);
  await stream.publish(fact);
  await stream.publish({ ...fact, messageId: "m2", json: '{"id":"m2"}' });
  const manager = await jetstreamManager(world.bus.connection);
  expect((await manager.streams.info(eventsChannel.stream)).state.messages).toBe(2);
  const consumer = await jetstream(world.bus.connection).consumers.get(eventsChannel.stream);
  const first = await consumer.next();
  expect([first?.subject, first?.json()]).toEqual([fact.subject, { id: "m1" }]);
});

test("without the stream a fact is refused; made anew, the stream is another one", async () => {
  await using world = await setUp();
  const stream = natsFactStream(world.bus.connection);
  await expect(stream.publish(fact)).rejects.toMatchObject({
    remedy: "retry",
    code: "jetstream-unavailable",
  });
  const before = await stream.identity();
  await (await jetstreamManager(world.bus.connection)).streams.delete(eventsChannel.stream);
  expect(await stream.identity()).not.toBe(before);
});
