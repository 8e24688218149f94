import { expect, test } from "vitest";
import { EndOfTurn } from "./end-of-turn.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("actions of a turn are done at its end, together and in order", async () => {
  const done: number[] = [];
  const end = new EndOfTurn();
  end.add(() => done.push(1));
  await Promise.resolve();
  end.add(() => done.push(2));
  expect(done).toEqual([]);
  await turn();
  expect(done).toEqual([1, 2]);
});

test("what an action adds is done in the next turn", async () => {
  const done: number[] = [];
  const end = new EndOfTurn();
  end.add(() => {
    done.push(1);
    end.add(() => done.push(2));
  });
  await turn();
  expect(done).toEqual([1]);
  await turn();
  expect(done).toEqual([1, 2]);
});
