import { expect, test } from "vitest";
import { natsConfigText } from "./nats-config.ts";

const base = { port: -1, storeDir: "/data/js", portsDir: "/data/ports", payloadBytesMax: 8 << 20, users: [] };

test("without users nobody has to log in", () => {
  const config = JSON.parse(natsConfigText(base));
  expect(config).not.toHaveProperty("authorization");
  expect(config).toMatchObject({ host: "127.0.0.1", port: -1, max_payload: 8388608 });
});

test("each user has the subjects given to it and no others", () => {
  const user = {
    user: "writer",
    password: "p",
    publish: { allow: ["a.>"], deny: ["a.b"] },
    subscribe: { allow: ["c"] },
  };
  const config = JSON.parse(natsConfigText({ ...base, users: [user] }));
  expect(config.authorization.users).toEqual([
    {
      user: "writer",
      password: "p",
      permissions: { publish: { allow: ["a.>"], deny: ["a.b"] }, subscribe: { allow: ["c"] } },
    },
  ]);
});
