/** A request that has passed all checks. Arguments are in clear here: this never reaches the disk. */
export interface InvocationSpec {
  readonly id: string;
  /** Real path. */
  readonly workspace: string;
  readonly startupArgs: readonly string[];
  readonly command: string;
  readonly args: readonly string[];
  readonly target?: string;
  readonly programArgs?: readonly string[];
  readonly timeoutMs: number;
}

/** What a caller asks for, as it comes. */
export interface RunRequest {
  readonly workspace: string;
  readonly startup_args?: readonly string[] | undefined;
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly target?: string | undefined;
  readonly program_args?: readonly string[] | undefined;
  readonly timeout_seconds?: number | undefined;
}
