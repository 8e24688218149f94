import type { ClientSettings } from "./client.ts";
import { invocationPath, problemFrom } from "./client.ts";

/** Which bytes of which log. */
export interface LogPart {
  readonly project: string;
  readonly invocationId: string;
  readonly attempt: number;
  readonly from: number;
  /** The byte after the last; what is not there yet is left out. */
  readonly to?: number;
}

/**
 * Reads a part of a log and hands its bytes on as they arrive. Returns how long the whole log was when the answer began.
 * Fails with an `ApiProblem`, or with the network's error when the answer breaks off.
 */
export async function readLog(
  settings: ClientSettings,
  part: LogPart,
  on: { bytes: (piece: Uint8Array) => void; signal: AbortSignal },
): Promise<{ total: number }> {
  const response = await (settings.fetch ?? fetch)(settings.origin + logPath(part), {
    signal: on.signal,
    ...(settings.headers === undefined ? {} : { headers: settings.headers }),
  });
  if (!response.ok) throw problemFrom(await response.json().catch(() => undefined), response.status);
  const reader = response.body?.getReader();
  for (;;) {
    const piece = await reader?.read();
    if (piece?.value === undefined) break;
    on.bytes(piece.value);
  }
  return { total: Number(response.headers.get("millrace-log-length") ?? 0) };
}

/** The route of a part of a log, below the origin. */
export function logPath(part: LogPart): string {
  const query = new URLSearchParams({ attempt: String(part.attempt), from_byte: String(part.from) });
  if (part.to !== undefined) query.set("to_byte", String(part.to));
  return `${invocationPath(part)}/log?${query}`;
}

/** The route that downloads a whole log as a file. */
export function logDownloadPath(name: { project: string; invocationId: string; attempt: number }): string {
  return `${invocationPath(name)}/log?attempt=${name.attempt}&download=true`;
}
