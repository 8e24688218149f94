import type { Import } from "./imports.ts";
import { packageOf } from "./imports.ts";
import { isTestFile } from "./source-files.ts";

/** Libraries that Millrace stands on; each must be imported by code on a real path. */
const required: readonly RegExp[] = [
  /^piscina$/,
  /^@grpc\/grpc-js$/,
  /^protobufjs(\/|$)/,
  /^postgres$/,
  /^@mongodb-js\/zstd$/,
  /^@nats-io\//,
  /^hono(\/|$)/,
  /^drizzle-orm(\/|$)/,
  /^zod$/,
];

/** Required libraries that no code of ours imports. Generated code counts: it is what decodes. */
export function unusedLibraries(imports: readonly Import[]): string[] {
  const used = imports
    .filter((one) => packageOf(one.from) !== undefined && !isTestFile(one.from) && !one.typeOnly)
    .map((one) => one.specifier);
  return required
    .filter((pattern) => !used.some((specifier) => pattern.test(specifier)))
    .map((pattern) => `${pattern} is imported by nothing on a real path`);
}
