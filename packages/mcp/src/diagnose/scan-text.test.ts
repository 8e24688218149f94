import { expect, test } from "vitest";
import { scanText, TextScanner } from "./scan-text.ts";

/** What is found first: `path:line` and message. */
function first(text: string, kind: "bazel" | "action" | "test" = "action"): string {
  const [finding] = scanText(text, kind).filter((one) => one.isConsequence !== true);
  if (finding === undefined) return "nothing";
  const { location } = finding;
  return `${location === undefined ? "" : `${location.path}:${location.line ?? ""}`} ${finding.message}`.trim();
}

test.each([
  [
    "GCC",
    "In file included from a.h:1,\nsrc/a.cc:7:3: error: 'x' was not declared in this scope\n    7 |   x = 1;",
    "src/a.cc:7 'x' was not declared in this scope",
  ],
  [
    "Clang, fatal",
    "src/a.cc:1:10: fatal error: 'gone.h' file not found",
    "src/a.cc:1 'gone.h' file not found",
  ],
  [
    "MSVC",
    "src\\a.cc(7,3): error C2065: 'x': undeclared identifier",
    "src\\a.cc:7 C2065: 'x': undeclared identifier",
  ],
  ["Go compiler", "# example.com/a\npkg/a.go:12:5: undefined: foo", "pkg/a.go:12 undefined: foo"],
  [
    "rustc",
    "error[E0382]: borrow of moved value: `v`\n  --> src/main.rs:4:20\n   |",
    "src/main.rs:4 borrow of moved value: `v` [E0382]",
  ],
  [
    "javac",
    "src/Foo.java:9: error: cannot find symbol\n    symbol: class Bar",
    "src/Foo.java:9 cannot find symbol",
  ],
  ["kotlinc", "src/Foo.kt:3:5: error: unresolved reference: bar", "src/Foo.kt:3 unresolved reference: bar"],
  [
    "Python",
    'Traceback (most recent call last):\n  File "tools/gen.py", line 3, in <module>\n    main()\n  File "tools/lib.py", line 9, in main\n    raise ValueError(1)\nValueError: bad input',
    "tools/lib.py:9 ValueError: bad input",
  ],
  [
    "tsc",
    "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
    "src/a.ts:3 TS2322: Type 'string' is not assignable to type 'number'.",
  ],
  [
    "tsc --pretty",
    "\u001b[96msrc/a.ts\u001b[0m:\u001b[93m3\u001b[0m:\u001b[93m7\u001b[0m - \u001b[91merror\u001b[0m\u001b[90m TS2322: \u001b[0mType.",
    "src/a.ts:3 TS2322: Type.",
  ],
  ["protoc", 'foo/a.proto:5:3: "Bar" is not defined.', 'foo/a.proto:5 "Bar" is not defined.'],
  [
    "ld",
    "/usr/bin/ld: bazel-out/a.o: in function `main':\na.cc:(.text+0x5): undefined reference to `foo()'\ncollect2: error: ld returned 1 exit status",
    "undefined reference to `foo()'",
  ],
  ["lld", "ld.lld: error: undefined symbol: foo()\n>>> referenced by a.cc", "undefined symbol: foo()"],
])("%s", (_name, text, expected) => {
  expect(first(text)).toContain(expected);
});

test.each([
  [
    "gTest",
    "[ RUN      ] A.B\nsrc/a_test.cc:12: Failure\nExpected equality of these values:\n  1\n  2\n[  FAILED  ] A.B",
    "src/a_test.cc:12 Expected equality of these values:; 1; 2",
  ],
  ["go test", "--- FAIL: TestX (0.00s)\n    x_test.go:12: got 1, want 2\nFAIL", "x_test.go:12 got 1, want 2"],
  [
    "Go panic",
    "panic: boom\n\ngoroutine 1 [running]:\nmain.f()\n\t/w/pkg/a.go:9 +0x1",
    "/w/pkg/a.go:9 panic: boom",
  ],
  [
    "Rust panic",
    "thread 'tests::it' panicked at src/lib.rs:10:9:\nassertion `left == right` failed",
    "src/lib.rs:10 assertion `left == right` failed",
  ],
  [
    "JUnit",
    "1) testFoo(com.x.FooTest)\njava.lang.AssertionError: expected:<1> but was:<2>\n\tat org.junit.Assert.fail(Assert.java:89)\n\tat com.x.FooTest.testFoo(FooTest.java:12)",
    "FooTest.java:12 java.lang.AssertionError: expected:<1> but was:<2>",
  ],
  [
    "pytest",
    "    def test():\n>       assert 1 == 2\nE       assert 1 == 2\n\na_test.py:2: AssertionError",
    "a_test.py:2 assert 1 == 2",
  ],
  [
    "Node",
    "AssertionError [ERR_ASSERTION]: 1 == 2\n    at Object.<anonymous> (/w/a.test.js:3:10)",
    "/w/a.test.js:3 AssertionError [ERR_ASSERTION]: 1 == 2",
  ],
  ["assert()", "a.out: a.c:5: main: Assertion `x == 1' failed.", "Assertion `x == 1' failed"],
  [
    "sanitizer",
    "==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x1",
    "AddressSanitizer: heap-use-after-free",
  ],
])("a test log of %s", (_name, text, expected) => {
  expect(first(text, "test")).toContain(expected);
});

test.each([
  ["ERROR: /w/BUILD:2:1: syntax error at 'newline': expected expression", "/w/BUILD:2 syntax error"],
  [
    'ERROR: Traceback (most recent call last):\n\tFile "/w/BUILD", line 3, column 4, in <toplevel>\n\t\tfoo()\n\tFile "/w/defs.bzl", line 9, column 7, in foo\n\t\tfail("no")\nError in fail: no',
    "/w/defs.bzl:9 Error in fail: no",
  ],
  [
    "ERROR: /w/BUILD:1:8: no such package 'x': BUILD file not found\n - /w/x and referenced by '//a'",
    "/w/BUILD:1 no such package 'x'",
  ],
])("Bazel says %s", (text, expected) => {
  expect(first(text, "bazel")).toContain(expected);
});

test.each([
  "INFO: Build completed, 1 test FAILED, 3 total actions",
  "INFO: From Compiling foo.cc:",
  "ERROR: Build did NOT complete successfully",
  "DEBUG: /w/defs.bzl:1:1: error: not one",
  "Use --verbose_failures to see the command lines of failed build steps.",
  "0 errors, 0 warnings generated",
])("%s is no diagnostic", (text) => {
  expect(first(text, "bazel")).toBe("nothing");
});

test("the cause at the head of a huge log is found, and so is the last", () => {
  const scanner = new TextScanner("action");
  scanner.push("head.cc:1:1: error: first\n");
  for (let i = 0; i < 2000; i += 1) scanner.push(`noise.cc:${i}:1: error: many ${i}\nwords\n`);
  scanner.push("tail.cc:1:1: error: last");
  const found = scanner.findings();
  expect(found[0]?.message).toBe("first");
  expect(found.at(-1)?.message).toBe("last");
  expect(found.length).toBeLessThanOrEqual(300);
});

test("a text in pieces gives what the whole gives", () => {
  const text = "error[E0382]: moved\n  --> src/main.rs:4:20\nsrc/a.cc:7:3: error: x\n";
  const scanner = new TextScanner("action");
  for (const piece of text.match(/.{1,5}/gs) ?? []) scanner.push(piece);
  expect(scanner.findings()).toEqual(scanText(text, "action"));
});

test("a failed action's own words stand behind its message, the command and the sandbox's trace left out", () => {
  const text = [
    "ERROR: /ws/bad/BUILD:5:8: Executing genrule //bad:broken failed: (Exit 3): linux-sandbox failed: error executing command ",
    "  (cd /out/execroot/demo && \\",
    "  exec env - \\",
    "  /usr/share/bazel/linux-sandbox -- /bin/bash -c 'echo oops; exit 3')",
    "1796080477.073802857: src/main/tools/linux-sandbox.cc:152: calling pipe(2)...",
    "something broke in here",
    "1796080477.086256316: src/main/tools/linux-sandbox-pid1.cc:423: wait returned pid=2",
    "INFO: Elapsed time: 1 s",
    "not of the action",
  ].join("\n");
  expect(first(text, "bazel")).toBe(
    "/ws/bad/BUILD:5 Executing genrule //bad:broken failed: (Exit 3): linux-sandbox failed: error executing command\nsomething broke in here",
  );
});
