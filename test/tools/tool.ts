/** An outside program, ready to run. */
export interface FoundTool {
  readonly kind: "found";
  /** Absolute. */
  readonly path: string;
  /** All that it needs of the environment, for a caller that gives it nothing else (HOME is the caller's). */
  readonly env: Readonly<Record<string, string>>;
}

export type Tool = FoundTool | { readonly kind: "missing"; readonly why: string };

/** Where the system's own programs are, whatever the PATH of this process is. */
export const systemPath = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
