import { describe, expect, it } from "vitest";
import { KeyCache, type KeyGrant } from "./key-cache.ts";

const grant: KeyGrant = { project: "default", scopes: ["ingest"], serverSecret: new Uint8Array(32) };
const granted = { kind: "granted", grant };
const unknown = { kind: "unknown" };
const refused = { kind: "refused" };

describe("the key cache", () => {
  it("knows nothing of a key nobody asked about", () => {
    expect(new KeyCache().state("k", 0)).toEqual(unknown);
  });

  it("uses a grant for 10 s and a refusal for 5 s", () => {
    const cache = new KeyCache();
    cache.answered("good", grant, 1_000);
    cache.answered("bad", undefined, 1_000);
    expect(cache.state("good", 10_999)).toEqual(granted);
    expect(cache.state("good", 11_000)).toEqual(unknown);
    expect(cache.state("bad", 5_999)).toEqual(refused);
    expect(cache.state("bad", 6_000)).toEqual(unknown);
  });

  it("honours a grant for 10 min while nobody answers, and asks again every 2 s", () => {
    const cache = new KeyCache();
    cache.answered("good", grant, 0);
    cache.unanswered("good", 12_000);
    expect(cache.state("good", 13_999)).toEqual(granted);
    expect(cache.state("good", 14_000)).toEqual(unknown);
    cache.unanswered("good", 599_000);
    expect(cache.state("good", 599_999)).toEqual(granted);
    expect(cache.state("good", 600_000)).toEqual(unknown);
    cache.unanswered("good", 600_000);
    expect(cache.state("good", 600_001)).toEqual(unknown);
  });

  it("never honours a refusal beyond its time", () => {
    const cache = new KeyCache();
    cache.answered("bad", undefined, 0);
    cache.unanswered("bad", 6_000);
    expect(cache.state("bad", 6_001)).toEqual(unknown);
  });

  it("believes the newest answer: a revoked key, and one that was created late", () => {
    const cache = new KeyCache();
    cache.answered("key", grant, 0);
    cache.answered("key", undefined, 10_000);
    expect(cache.state("key", 10_001)).toEqual(refused);
    cache.unanswered("key", 16_000);
    expect(cache.state("key", 16_001)).toEqual(unknown);
    cache.answered("key", grant, 17_000);
    expect(cache.state("key", 17_001)).toEqual(granted);
  });

  it("is bounded", () => {
    const cache = new KeyCache();
    for (let at = 0; at < 20_000; at += 1) cache.answered(`wrong ${at}`, undefined, at);
    expect(cache.size).toBe(10_000);
    expect(cache.state("wrong 19999", 20_000)).toEqual(refused);
  });
});
