import { expect, test } from "vitest";
import { cssColour } from "./ansi-colour.ts";

test("the sixteen are tokens, the cube and the greys are xterm's, others are themselves", () => {
  expect(cssColour("1")).toBe("var(--ansi-1)");
  expect(cssColour("15")).toBe("var(--ansi-15)");
  expect(cssColour("16")).toBe("rgb(0 0 0)");
  expect(cssColour("208")).toBe("rgb(255 135 0)");
  expect(cssColour("231")).toBe("rgb(255 255 255)");
  expect(cssColour("232")).toBe("rgb(8 8 8)");
  expect(cssColour("255")).toBe("rgb(238 238 238)");
  expect(cssColour("#0102ff")).toBe("#0102ff");
});
