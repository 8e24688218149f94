import { ConfigError } from "@millrace/base/config";
import { errorText, MillraceError } from "@millrace/base/errors";
import type { Flags, FlagValues } from "./flag.ts";
import { commandHelp } from "./help.ts";
import { type Operands, parseArguments } from "./parse-arguments.ts";
import type { Terminal } from "./terminal.ts";

/** What a command is run with. */
export interface Invocation<F> {
  readonly flags: FlagValues<F>;
  readonly operands: readonly string[];
  /** Keys of flags that were given on the command line, rather than by environment or default. */
  readonly given: ReadonlySet<string>;
  readonly terminal: Terminal;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** How a command is declared. */
export interface CommandSpec<F extends Flags> {
  readonly name: string;
  /** For a newcomer: what it does and when one needs it. Paragraphs. */
  readonly about: readonly string[];
  readonly operands?: Operands;
  readonly flags: F;
  /** Lines that can be pasted, each with what it does. */
  readonly examples: readonly { readonly line: string; readonly does: string }[];
  /** Answers the exit code. */
  run(invocation: Invocation<F>): Promise<number>;
}

/** A command, ready to be run. */
export interface Command {
  /** Answers the exit code: 0 done, 1 failed, 2 wrongly asked. */
  run(
    args: readonly string[],
    world: {
      readonly terminal: Terminal;
      readonly environment: Readonly<Record<string, string | undefined>>;
    },
  ): Promise<number>;
}

const noOperands: Operands = { shown: "", min: 0, max: 0 };

/** Wraps a declaration with what all commands have in common: parsing, help, and sentences instead of stacks. */
export function defineCommand<F extends Flags>(spec: CommandSpec<F>): Command {
  return {
    run: async (args, { terminal, environment }) => {
      const operands = spec.operands ?? noOperands;
      const parsed = parseArguments(args, { flags: spec.flags, operands, environment });
      if (parsed.kind === "help") {
        terminal.print(commandHelp({ ...spec, operands }));
        return 0;
      }
      if (parsed.kind === "wrong") {
        terminal.complain(`millrace ${spec.name}: ${parsed.message}`);
        terminal.complain(`See: millrace ${spec.name} --help`);
        return 2;
      }
      try {
        return await spec.run({ ...parsed, terminal, environment });
      } catch (error) {
        if (!(error instanceof MillraceError || error instanceof ConfigError)) throw error;
        terminal.complain(`millrace ${spec.name}: ${errorText(error)}`);
        return error instanceof ConfigError ? 2 : 1;
      }
    },
  };
}
