/** A seeded source of chance (xorshift128): the same seed gives the same builds on every machine, for ever. */
export class Chance {
  private a: number;
  private b: number;
  private c: number;
  private d = 0x6c078965;

  constructor(seed: number) {
    this.a = (seed ^ 0x9e3779b9) >>> 0;
    this.b = Math.imul(seed + 1, 0x85ebca6b) >>> 0;
    this.c = Math.imul(seed + 2, 0xc2b2ae35) >>> 0;
    for (let round = 0; round < 16; round += 1) this.next();
  }

  /** 32 random bits. */
  next(): number {
    const t = this.a ^ (this.a << 11);
    this.a = this.b;
    this.b = this.c;
    this.c = this.d;
    this.d = (this.d ^ (this.d >>> 19) ^ t ^ (t >>> 8)) >>> 0;
    return this.d;
  }

  /** An integer, both ends included. */
  between(low: number, high: number): number {
    return low + (this.next() % (high - low + 1));
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.next() % items.length] ?? items[0];
  }

  /** Lower-case hex digits: a digest has 64, a Bazel output base 32. */
  hex(digits: number): string {
    let text = "";
    while (text.length < digits) {
      const bits = this.next();
      text += (fourDigits[bits >>> 16] ?? "") + (fourDigits[bits & 0xffff] ?? "");
    }
    return text.slice(0, digits);
  }

  uuid(): string {
    const digits = this.hex(30);
    const groups = [digits.slice(0, 8), digits.slice(8, 12), `4${digits.slice(12, 15)}`];
    return [...groups, `a${digits.slice(15, 18)}`, digits.slice(18, 30)].join("-");
  }
}

const fourDigits = Array.from({ length: 0x10000 }, (_, value) => value.toString(16).padStart(4, "0"));
