import path from "node:path";
import type { SourceFile } from "./source-files.ts";

/** One import: by which file, of what, and whether only for types. */
export interface Import {
  readonly from: string;
  readonly specifier: string;
  readonly typeOnly: boolean;
}

const statement =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?(?:[\w*{}\s,$]+?\s+from\s+)?["']([^"'\n]+)["']|\bimport\(\s*["']([^"'\n]+)["']\s*\)/g;

export function importsOf(file: SourceFile): Import[] {
  return [...file.text.matchAll(statement)].map((match) => ({
    from: file.path,
    specifier: match[2] ?? match[3] ?? "",
    typeOnly: match[1] !== undefined,
  }));
}

/** `packages/x/src/a.ts` → `x`; db, bench, test and scripts are their own; undefined for anything else. */
export function packageOf(file: string): string | undefined {
  const parts = file.split("/");
  if (parts[0] === "packages") return parts[1];
  return ["db", "bench", "test", "scripts"].includes(parts[0] ?? "") ? parts[0] : undefined;
}

/** The package of ours that an import names, by package name or by relative path. */
export function importedPackage(one: Import): string | undefined {
  const own = /^@millrace\/([a-z-]+)(\/|$)/.exec(one.specifier);
  if (own) return own[1];
  if (!one.specifier.startsWith(".")) return undefined;
  return packageOf(path.posix.normalize(path.posix.join(path.posix.dirname(one.from), one.specifier)));
}

/** The file that an import inside the checkout names; undefined for libraries. */
export function importedFile(one: Import): string | undefined {
  const own = /^@millrace\/([a-z-]+)\/(.+)$/.exec(one.specifier);
  if (own) {
    const [, name = "", entry = ""] = own;
    if (name === "test" || name === "bench") return `${name}/${entry}.ts`;
    return `${name === "db" ? "db" : `packages/${name}`}/src/${entry}.ts`;
  }
  if (!one.specifier.startsWith(".")) return undefined;
  return path.posix.normalize(path.posix.join(path.posix.dirname(one.from), one.specifier));
}
