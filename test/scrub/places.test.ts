import { projectAll } from "@millrace/actors/project/project-all.fixture";
import { makeSecrets } from "@millrace/actors/scrub/secrets.fixture";
import { expect, test, vi } from "vitest";
import { lettersOf } from "./letters.ts";
import { largePlaces, places } from "./places.ts";
import { Needles } from "./search/needles.ts";
import { SecretSearch } from "./search/secret-search.ts";

// Much work, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 180_000 });

const secrets = makeSecrets(lettersOf(1));
const needles = secrets.map(({ kind, material }) => ({ name: kind, bytes: Buffer.from(material) }));

test("there are sixty secrets, of which no two share eight letters, and over twenty places", () => {
  expect(secrets.length).toBeGreaterThanOrEqual(60);
  expect(new Needles(needles).shared()).toEqual([]);
  expect(places.length).toBeGreaterThan(20);
});

test.each([...places, ...largePlaces].map((place) => [place.name, place] as const))(
  "of sixty secrets in %s, all are found before masking and none behind it",
  (name, place) => {
    const before = new SecretSearch(needles);
    const behind = new SecretSearch(needles);
    for (const secret of secrets) {
      const events = place.plant(secret);
      for (const event of events) before.look(name, event);
      const { events: out, log, rows } = projectAll(events);
      for (const bytes of [...out, Buffer.concat(log), rows]) behind.look(name, bytes);
    }
    expect(before.foundIn(name).size).toBe(secrets.length);
    expect(behind.found()).toEqual([]);
  },
);

test("a long secret that a broken message cuts in two is masked on both sides of the cut", () => {
  const place = places.find(({ name }) => name === "payload that cannot be decoded");
  // Where what is left of the secret happens to read as numeric fields the message is not broken, and they are not looked at.
  for (const seed of [2, 20, 21, 30, 32]) {
    for (const secret of makeSecrets(lettersOf(seed)).filter(({ text }) => text.length > 127)) {
      const search = new SecretSearch([{ name: secret.kind, bytes: Buffer.from(secret.material) }]);
      const { events } = projectAll(place?.plant(secret) ?? []);
      for (const bytes of events) search.look("events", bytes);
      expect(search.found()).toEqual([]);
    }
  }
});
