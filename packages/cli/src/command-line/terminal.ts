/** Where a command writes, as a port. */
export interface Terminal {
  /** Standard output: what was asked for. */
  print(line: string): void;
  /** Standard error: what went wrong, and what is going on. */
  complain(line: string): void;
  /** Standard output without a line feed of our own, for bytes. Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
  /** Whether a person looks at standard output. */
  readonly isInteractive: boolean;
  /** Whether colours may be used there. */
  readonly isColoured: boolean;
}

/** The terminal of this process. A reader that went away (`| head`) is no error of ours. */
export function processTerminal(environment: Readonly<Record<string, string | undefined>>): Terminal {
  const isInteractive = process.stdout.isTTY === true;
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  return {
    print: (line) => void process.stdout.write(`${line}\n`),
    complain: (line) => void process.stderr.write(`${line}\n`),
    write: (bytes) => new Promise((resolve) => void process.stdout.write(bytes, () => resolve())),
    isInteractive,
    isColoured: isInteractive && !environment.NO_COLOR && environment.TERM !== "dumb",
  };
}
