import fc from "fast-check";
import { expect, test } from "vitest";
import { arrayLiteral, parseArray } from "./array-types.ts";

test("what is written is read again, whatever is in it", () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom("", "null", "NULL", '"', "\\", "{}", "a,b", " x "),
    fc.constant(null),
  );
  fc.assert(
    fc.property(fc.array(text), (values) => {
      expect(parseArray(arrayLiteral(values))).toEqual(values);
    }),
  );
});

test("the forms that PostgreSQL writes", () => {
  expect(parseArray("{}")).toEqual([]);
  expect(parseArray('{a,NULL,"NULL"}')).toEqual(["a", null, "NULL"]);
  expect(parseArray("{1,-2}", Number)).toEqual([1, -2]);
  expect(parseArray('{{a,b},{c,"d e"}}')).toEqual([
    ["a", "b"],
    ["c", "d e"],
  ]);
  expect(parseArray("[0:1]={3,4}", Number)).toEqual([3, 4]);
});
