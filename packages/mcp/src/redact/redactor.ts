/** What stands where a secret stood. */
export const redacted = "[redacted]";

/** Takes secrets out of what is kept in records or shown. Applied before any filter, so that no filter can probe one. */
export interface Redactor {
  text(text: string): string;
  arguments(list: readonly string[]): string[];
}

const secretName =
  "[\\w.-]*(?:token|secret|passw(?:or)?d|passphrase|credential|api[_-]?key|access[_-]?key|private[_-]?key|auth(?:orization)?)[\\w.-]*";

/** `$1` is what stays in front of the secret. */
const builtIn: readonly { readonly pattern: RegExp; readonly keep: string }[] = [
  { pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, keep: "" },
  // Credentials in a URL.
  { pattern: /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@:'"]*:[^\s/@'"]+(?=@)/gi, keep: "$1" },
  { pattern: /\b((?:bearer|basic|token)\s+)[A-Za-z0-9+/._~=-]{8,}/gi, keep: "$1" },
  // Headers given to Bazel: the name may stay.
  { pattern: /(--[a-z_]*header=[^=\s'"]+=)[^\s'"]+/g, keep: "$1" },
  {
    pattern: new RegExp(
      `(\\b${secretName}["']?(?:\\s*=\\s*|\\s*:\\s+)["']?)(?!\\[redacted\\]|bearer |basic )[^\\s"'&,;]{4,}`,
      "gi",
    ),
    keep: "$1",
  },
  // Formats that name their issuer.
  {
    pattern: /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_[A-Za-z0-9]{30,})/g,
    keep: "",
  },
  { pattern: /\bxox[abeoprs]-[\w-]{10,}/g, keep: "" },
  { pattern: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, keep: "" },
  { pattern: /\bAIza[\w-]{30,}/g, keep: "" },
  { pattern: /\bsk-[A-Za-z0-9_-]{20,}/g, keep: "" },
  { pattern: /\bmillrace_[a-z0-9]+_[A-Za-z0-9_-]{16,}/g, keep: "" },
  { pattern: /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/g, keep: "" },
];

// Without any of these letters no built-in pattern can match; most lines end here.
const suspicious =
  /:\/\/|BEGIN|earer|BEARER|asic|BASIC|oken|OKEN|ecret|ECRET|assw|ASSW|assphrase|redential|REDENTIAL|[kK]ey|KEY|auth|Auth|AUTH|header=|gh[pousr]_|github_pat|glpat|npm_|xox|AKIA|ASIA|AIza|sk-|millrace_|eyJ/;

/** Built-in patterns plus the user's own regular expressions. Always on. */
export function createRedactor(own: readonly string[]): Redactor {
  const ownPatterns = own.map((source) => new RegExp(source, "g"));
  const text = (input: string): string => {
    let output = input;
    if (suspicious.test(input)) {
      for (const { pattern, keep } of builtIn) output = output.replace(pattern, `${keep}${redacted}`);
    }
    for (const pattern of ownPatterns) output = output.replace(pattern, redacted);
    return output;
  };
  return {
    text,
    arguments: (list) => {
      // `--remote_header x=y` in two words hides the name from the patterns.
      const isHeader = (word: string | undefined): boolean => /^--[a-z_]*header$/.test(word ?? "");
      return list.map((word, index) =>
        isHeader(list[index - 1]) ? word.replace(/=.*$/s, `=${redacted}`) : text(word),
      );
    },
  };
}
