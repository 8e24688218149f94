import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

/** A source file as the rules see it. `path` is relative to the checkout, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const root = path.resolve(import.meta.dirname, "../..");
const isSource = /\.(ts|tsx|mts|mjs)$/;
const isGenerated = /(^|\/)gen\/|\.gen\.|routeTree/;
const isWorkspaceOfBazel = /^test\/e2e\/workspace\//;

/** Every source file that git knows or would add, without generated ones. */
export function readSourceFiles(): SourceFile[] {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  return listed
    .split("\n")
    .filter((file) => isSource.test(file) && !isGenerated.test(file) && !isWorkspaceOfBazel.test(file))
    .flatMap((file) => {
      try {
        return [{ path: file, text: readFileSync(path.join(root, file), "utf8") }];
      } catch {
        return []; // Deleted in the working tree.
      }
    });
}

/** Whether the file is a test or belongs to tests and benchmarks. */
export function isTestFile(file: string): boolean {
  return /\.(test|fixture)\.tsx?$/.test(file) || file.startsWith("test/") || file.startsWith("bench/");
}
