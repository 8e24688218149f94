import { type Import, importedFile, importedPackage, packageOf } from "./imports.ts";
import { isTestFile } from "./source-files.ts";

/** Who may import whom (docs/ARCHITECTURE.md). A package may always import itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  base: [],
  proto: ["base"],
  blobs: ["base"],
  artifacts: ["base", "proto", "blobs", "db"],
  actors: ["base", "proto", "blobs"],
  writer: ["base", "proto", "blobs", "db"],
  api: ["base", "proto", "blobs", "db", "artifacts"],
  client: [],
  ui: ["client"],
  mcp: ["base", "proto", "client", "actors"],
  buildsignal: ["base", "proto", "db", "client"],
  cli: [
    "base",
    "proto",
    "blobs",
    "db",
    "artifacts",
    "actors",
    "writer",
    "api",
    "client",
    "mcp",
    "buildsignal",
    "scripts", // The command sets the checkout up before it runs.
  ],
  db: ["base"],
  scripts: [],
};

/** Arrows between packages that the table does not allow. */
export function forbiddenArrows(imports: readonly Import[]): string[] {
  return imports.flatMap((one) => {
    const from = packageOf(one.from);
    const to = importedPackage(one);
    if (from === undefined || to === undefined || from === to) return [];
    if (from === "test" || from === "bench" || isTestFile(one.from)) {
      return from === "bench" && to === "test" && !(importedFile(one) ?? "").startsWith("test/model/")
        ? [`${one.from} imports ${one.specifier}: of test/, bench may import test/model only`]
        : [];
    }
    if (mayImport[from]?.includes(to)) return [];
    return [`${one.from} imports ${one.specifier}: ${from} may not know ${to}; see the table of packages`];
  });
}

/** Chains of files that import each other in a circle (imports of types alone do not count). */
export function importCycles(imports: readonly Import[]): string[] {
  const graph = new Map<string, string[]>();
  for (const one of imports) {
    const to = importedFile(one);
    if (one.typeOnly || to === undefined) continue;
    graph.set(one.from, [...(graph.get(one.from) ?? []), to]);
  }
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    const at = trail.indexOf(file);
    if (at !== -1) cycles.push(`${[...trail.slice(at), file].join(" → ")}: break the circle`);
    if (at !== -1 || done.has(file)) return;
    done.add(file);
    for (const next of graph.get(file) ?? []) visit(next, [...trail, file]);
  };
  for (const file of graph.keys()) visit(file, []);
  return cycles;
}
