import type { build_event_stream } from "@millrace/proto/gen/bep";
import type { PlantedSecrets } from "./planted-secrets.ts";
import type { BuildSketch } from "./sketch.ts";
import { identifier } from "./vocabulary.ts";

type Bep = build_event_stream.BuildEvent.$Properties;
type Id = build_event_stream.BuildEventId.$Properties;

/** Makes the progress events of one build, with what Bazel and its tools print. */
export class ConsoleWriter {
  private readonly build: BuildSketch;
  private readonly secrets: PlantedSecrets;
  private readonly total: number;
  private readonly printedCharsMin: number;
  private count: number;
  private actionsDone = 0;

  constructor(
    build: BuildSketch,
    secrets: PlantedSecrets,
    of: { readonly firstCount?: number; readonly printedCharsMin?: number } = {},
  ) {
    this.build = build;
    this.secrets = secrets;
    this.count = of.firstCount ?? 0;
    this.printedCharsMin = of.printedCharsMin ?? 0;
    this.total = build.recipe.configured * 3 + build.chance.between(5, 60);
  }

  /** The first event of a console: the one that tells where the sources come from holds a password. */
  first(announced: readonly Id[]): Bep {
    const { build, secrets } = this;
    const clone = `https://${secrets.userinfo}@git.${build.project}.example.net/${build.project}.git`;
    const text =
      `INFO: Invocation ID: ${build.uuid}\nINFO: Repository _main is cloned from ${clone} at ${build.commit}\n` +
      `Loading: \nLoading: 0 packages loaded\nAnalyzing: ${build.recipe.configured} targets (12 packages loaded)\n`;
    return this.event({ stderr: text }, announced);
  }

  /** The next event; one in four announces other events only, as in recorded runs. */
  next(announced: readonly Id[]): Bep {
    const kind = this.build.chance.between(1, 12);
    if (kind <= 3) return this.event({}, announced);
    if (kind <= 7) return this.event({ stderr: this.filled(this.progressLines()) }, announced);
    if (kind <= 11) return this.event({ stderr: this.filled(this.compilerOutput()) }, announced);
    return this.event({ stdout: this.filled(this.testOutput()) }, announced);
  }

  last(): Bep {
    const { build } = this;
    const seconds = (build.chance.between(2_000, 400_000) / 1_000).toFixed(3);
    const text =
      `INFO: Elapsed time: ${seconds}s, Critical Path: ${(Number(seconds) * 0.6).toFixed(2)}s\n` +
      `INFO: ${this.actionsDone} processes: 14 internal, ${build.chance.between(1, 90)} linux-sandbox.\n` +
      `INFO: Build completed, ${build.outcome.exitCode === 0 ? "all passed" : "not all succeeded"}, ${this.total} total actions\n`;
    return this.event({ stderr: text }, []);
  }

  private event(progress: { stdout?: string; stderr?: string }, announced: readonly Id[]): Bep {
    const opaqueCount = this.count++;
    const children = [{ progress: { opaqueCount: opaqueCount + 1 } }, ...announced];
    return { id: { progress: { opaqueCount } }, children, progress };
  }

  /** Bazel tells what was printed when a buffer is full; a build that prints little has never filled it. */
  private filled(text: string): string {
    let printed = text;
    while (printed.length < this.printedCharsMin) {
      const kind = this.build.chance.between(1, 4);
      printed +=
        kind === 1 ? this.progressLines() : kind === 2 ? this.compilerOutput() : this.programOutput();
    }
    return printed;
  }

  /** What --curses=yes draws: the line is overwritten by the next. */
  private progressLines(): string {
    const { chance } = this.build;
    const lines = Array.from({ length: chance.between(1, 3) }, () => {
      this.actionsDone = Math.min(this.total, this.actionsDone + chance.between(0, 3));
      const what = `${chance.pick(["Compiling", "Linking", "Action", "GoCompilePkg"])} ${this.source()}`;
      const state = `${chance.between(0, 59)}s ${chance.pick(["remote-cache", "linux-sandbox", "remote, 3 more"])}`;
      return `\r\u001b[1A\u001b[K\u001b[32m[${this.actionsDone} / ${this.total}]\u001b[0m ${what}; ${state}\n`;
    });
    return lines.join("");
  }

  private compilerOutput(): string {
    const { chance, recipe } = this.build;
    const file = this.source();
    const line = chance.between(1, 2_900);
    const name = identifier(chance);
    const caret = `${" ".repeat(chance.between(4, 30))}^${"~".repeat(name.length)}`;
    const declared = `${this.source().replace(/cc$/, "h")}:${chance.between(1, 900)}:3: note: declared here`;
    return (
      `INFO: From Compiling ${file} [${recipe.configured}]:\n${file}:${line}:${chance.between(1, 90)}: warning: ` +
      `'${name}' is deprecated: use ${identifier(chance)}_v2 instead [-Wdeprecated-declarations]\n` +
      `  ${line} |   auto result_${chance.hex(4)} = ${name}(${identifier(chance)}, ${chance.between(0, 9_999)});\n${caret}\n${declared}\n`
    );
  }

  private testOutput(): string {
    const { chance } = this.build;
    const suite = identifier(chance);
    const lines = Array.from({ length: chance.between(2, 5) }, () => {
      const name = `${suite}.${identifier(chance)}_${chance.between(1, 99)}`;
      return `[ RUN      ] ${name}\n[       OK ] ${name} (${chance.between(0, 9_000)} ms)\n`;
    });
    return `==================== Test output for //${suite.replace("_", ":")}:\n${lines.join("")}`;
  }

  /** What a program that is tested logs. */
  private programOutput(): string {
    const { chance } = this.build;
    const lines = Array.from({ length: chance.between(2, 8) }, () => {
      const at = `${chance.between(10, 23)}:${chance.between(10, 59)}:${chance.between(10, 59)}.${chance.hex(5)}`;
      const level = chance.pick(["DEBUG", "INFO ", "WARN "]);
      const took = `${chance.between(0, 99_999)}us`;
      return `${at} ${level} ${this.source()} ${identifier(chance)}=${chance.hex(16)} trace=${chance.hex(32)} ${took}\n`;
    });
    return lines.join("");
  }

  private source(): string {
    const { chance, targets } = this.build;
    const target = targets[chance.between(0, targets.length - 1)];
    return `${target?.directory}/${target?.name}.cc`;
  }
}
