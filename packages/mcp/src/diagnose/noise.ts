// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what is to be found.
const escapes = /\u001b(\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(\u0007|\u001b\\)|[@-_])/g;

/** A line as a person reads it: without colours, cursor movements and carriage returns. */
export function plainLine(line: string): string {
  const plain = line.includes("\u001b") ? line.replace(escapes, "") : line;
  const end = plain.endsWith("\r") ? plain.slice(0, -1) : plain;
  const overwritten = end.lastIndexOf("\r");
  return overwritten === -1 ? end : end.slice(overwritten + 1);
}

// The sandbox's own trace, which some distributions' Bazel always prints.
const sandboxTrace = /^\d{9,}\.\d+: src\/main\/tools\//;

/** True for lines of the sandbox about itself: they are not even kept. */
export function isSandboxTrace(line: string): boolean {
  return sandboxTrace.test(line);
}

const noise: readonly RegExp[] = [
  /^\s*$/,
  /^(INFO|DEBUG|Loading|Analyzing|Extracting|Starting local Bazel|Computing main repo):?/,
  sandboxTrace,
  /^\[\d[\d,]* \/ \d[\d,]*\]/,
  /^(FAILED:|ERROR:)?\s*Build did NOT complete successfully/,
  /^Target \S+ failed to build$/,
  /^Use --(verbose_failures|sandbox_debug|keep_going)/,
  /^Executed \d+ out of \d+ tests?/,
  /^(exec \$\{PAGER|Executing tests from |-{20,}$|={20,})/,
  /^There were tests whose specified size is too big/,
  /^\s+(\(cd |exec env - |PATH=|TMPDIR=|\S*linux-sandbox )/,
  /^\S+:\d+:\d+: note: /,
  /^(make|ninja): /,
  /^\s*\^[~\s^]*$/,
];

/** True for lines that never say why something failed. */
export function isNoise(line: string): boolean {
  return noise.some((pattern) => pattern.test(line));
}
