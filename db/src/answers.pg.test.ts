import { afterAll, beforeAll, expect, test } from "vitest";
import { freshDatabase, type TestDatabase } from "../../test/services/database.ts";
import { connect } from "./connect.ts";
import { openLane } from "./lane.ts";

let fresh: TestDatabase;

beforeAll(async () => {
  fresh = await freshDatabase({ empty: true });
});
afterAll(async () => {
  await fresh.drop();
});

/** A statement that answers `number`: of one of two known texts, or of a text that was never prepared. */
function statement(number: number, round: number): { text: string; parameters: string[] } {
  const kind = number % 3 === 0 ? `new ${number} ${round}` : `known ${number % 2}`;
  return { text: `select $1::int as answer, '${kind}' as kind`, parameters: [String(number)] };
}

const numbers = Array.from({ length: 40 }, (_, index) => index + 1);

test("statements sent at once over one connection get each its own answer", async () => {
  const database = connect({ url: fresh.url, max: 1, name: "answers" });
  for (const round of [1, 2, 3]) {
    const answers = await Promise.all(
      numbers.map(async (number) => {
        const { text, parameters } = statement(number, round);
        const [row] = await database.sql.unsafe(text, parameters, { prepare: true });
        return row?.answer;
      }),
    );
    expect(answers).toEqual(numbers);
  }
  await database.close();
});

test.each([true, false])("so do those of a transaction (named statements: %s)", async (prepare) => {
  const lane = openLane({ url: fresh.url, name: "answers", prepare });
  for (const round of [1, 2, 3]) {
    const answers = await lane.transact((tx) =>
      Promise.all(
        numbers.map(async (number) => {
          const { text, parameters } = statement(number, round);
          const [row] = await tx.unsafe(text, parameters, { prepare: true }).execute();
          return row?.answer;
        }),
      ),
    );
    expect(answers).toEqual(numbers);
  }
  await lane.close();
});

test("a transaction's statement fails by itself, and those behind it as such", async () => {
  const lane = openLane({ url: fresh.url, name: "answers" });
  const failed = await lane
    .transact(async (tx) => {
      const texts = [
        "select 1 as a where $1 = '1'",
        "select 1 / $1::int as b",
        "select 2 as c where $1 = '0'",
      ];
      const all = texts.map((text) =>
        tx
          .unsafe(text, ["0"], { prepare: true })
          .execute()
          .then(
            () => "answered",
            (error) => error.code,
          ),
      );
      return Promise.reject(await Promise.all(all));
    })
    .catch((codes: unknown) => codes);
  expect(failed).toEqual(["answered", "22012", "25P02"]);
  await lane.close();
});
