import { isTestFile, type SourceFile } from "./source-files.ts";

/** Something that only some files may contain. */
interface Place {
  readonly what: RegExp;
  readonly allowed: RegExp;
  readonly say: string;
}

const places: readonly Place[] = [
  {
    what: /\bprocess\.env\b/,
    allowed: /^packages\/base\/src\/config\.ts$|^scripts\/|^packages\/cli\/bin\/|\.config\.ts$/,
    say: "reads process.env: settings are declared and read through base/config.ts",
  },
  {
    what: /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|(?<![.\w])set(Timeout|Interval)\(/,
    allowed: /^packages\/base\/src\/clock\.ts$|^packages\/ui\/|^scripts\/|^packages\/cli\/bin\//,
    say: "reads the time or sets a timer: take a Clock of base/clock.ts",
  },
  {
    what: /\bMath\.random\(|\brandomBytes\(|\brandomUUID\(/,
    allowed: /^packages\/base\/src\/random\.ts$|^packages\/ui\/|^scripts\//,
    say: "rolls dice: take a Random of base/random.ts",
  },
  {
    what: /from "pino(-pretty)?"/,
    allowed: /^packages\/base\/src\/log\.ts$/,
    say: "knows the logger: take a Log of base/log.ts",
  },
  {
    what: /from "react(-dom)?(\/[a-z-]+)?"/,
    allowed: /^packages\/ui\//,
    say: "knows React: only packages/ui may",
  },
  {
    what: /from "@grpc\/grpc-js"/,
    allowed: /^packages\/actors\/src\/front-door\/|^packages\/artifacts\/|^packages\/cli\//,
    say: "speaks gRPC: only the front door, artifacts and cli may",
  },
  {
    what: /from "(postgres|drizzle-orm[a-z/-]*)"/,
    allowed:
      /^db\/|^packages\/writer\/src\/statements\/|^packages\/api\/src\/queries\/|^packages\/buildsignal\/src\/store\/|^packages\/artifacts\/src\/store\//,
    say: "speaks SQL: only db, writer/statements, api/queries, buildsignal/store and artifacts/store may",
  },
  {
    what: /["'`](open|batches|lifecycle|keys|nodes|writers|live|events)\.(\$\{|[a-z>*])/,
    // `events.bep` in the local store's layout is a file name.
    allowed: /^packages\/proto\/src\/channels\.ts$|^packages\/mcp\/src\/store\/layout\.ts$/,
    say: "holds a subject string: add it to the list in proto/channels.ts",
  },
];

/** Uses of something outside its place. */
export function misplaced(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => !isTestFile(file.path))
    .flatMap((file) => {
      const code = withoutComments(file.text);
      return places
        .filter((place) => place.what.test(code) && !place.allowed.test(file.path))
        .map((place) => `${file.path} ${place.say}`);
    });
}

/** Source text without comments; good enough where no string holds a comment mark. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
}
