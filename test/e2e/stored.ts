import { splitDelimited } from "../model/frames.ts";
import type { Cluster } from "./cluster.ts";

/** One attempt as the database has it. */
export interface StoredAttempt {
  readonly attempt: number;
  readonly status: string;
  /** Of the fence. */
  readonly lastSequence: number;
  readonly exitCode: number | null;
}

/** What to look at; the project is `default` unless told. */
export interface Which {
  readonly invocationId: string;
  readonly project?: string;
}

/**
 * All attempts of an invocation, in order. Throws unless the segments of each are contiguous from 1 to the fence's
 * position: no gap, no event twice.
 */
export async function readAttempts(cluster: Cluster, which: Which): Promise<StoredAttempt[]> {
  const { project = "default", invocationId } = which;
  const rows = await cluster.database.sql.unsafe(
    `select p.attempt_id, p.attempt, i.status, p.last_event_seq, i.exit_code
     from stream_positions p left join invocations i using (attempt_id)
     where p.project_id = $1 and p.invocation_id = $2 order by p.attempt`,
    [project, invocationId],
  );
  const attempts: StoredAttempt[] = [];
  for (const row of rows) {
    const lastSequence = Number(row["last_event_seq"]);
    await checkContiguous(cluster, { attemptId: Number(row["attempt_id"]), lastSequence });
    const exitCode = row["exit_code"] === null ? null : Number(row["exit_code"]);
    attempts.push({ attempt: Number(row["attempt"]), status: String(row["status"]), lastSequence, exitCode });
  }
  return attempts;
}

async function checkContiguous(
  cluster: Cluster,
  of: { attemptId: number; lastSequence: number },
): Promise<void> {
  const segments = await cluster.database.sql.unsafe(
    "select first_seq, last_seq from event_segments where attempt_id = $1 order by first_seq, last_seq",
    [of.attemptId],
  );
  let next = 1;
  for (const segment of segments) {
    const first = Number(segment["first_seq"]);
    if (first !== next) throw new Error(`a segment begins at ${first} where ${next} was expected`);
    next = Number(segment["last_seq"]) + 1;
  }
  if (next !== of.lastSequence + 1) {
    throw new Error(`segments end at ${next - 1}, the position is ${of.lastSequence}`);
  }
}

/** The BEP payloads of an attempt (the newest unless told), as the API exports them. */
export async function exportPayloads(
  cluster: Cluster,
  which: Which & { readonly attempt?: number },
): Promise<Buffer[]> {
  const { project = "default", invocationId, attempt } = which;
  const query = attempt === undefined ? "" : `?attempt=${attempt}`;
  const answer = await cluster.get(
    `/api/v1/projects/${project}/invocations/${encodeURIComponent(invocationId)}/bep${query}`,
  );
  if (answer.status !== 200) throw new Error(`export answered ${answer.status}: ${await answer.text()}`);
  return splitDelimited(Buffer.from(await answer.arrayBuffer()));
}

/** Payloads in an order of their own, in which two lists are equal when they hold the same ones equally often. */
export function asSet(payloads: readonly Uint8Array[]): string[] {
  return payloads.map((payload) => Buffer.from(payload).toString("latin1")).sort();
}

/** What is in only one of two lists; the message of a failed comparison stays readable that way. */
export function difference(
  stored: readonly Uint8Array[],
  sent: readonly Uint8Array[],
): { missing: string[]; surplus: string[] } {
  const left = asSet(stored);
  const counts = new Map<string, number>();
  for (const text of left) counts.set(text, (counts.get(text) ?? 0) + 1);
  const missing: string[] = [];
  for (const text of asSet(sent)) {
    const count = counts.get(text) ?? 0;
    if (count === 0) missing.push(text.slice(0, 300));
    else counts.set(text, count - 1);
  }
  const surplus = [...counts].flatMap(([text, count]) => Array(count).fill(text.slice(0, 300)));
  return { missing, surplus };
}
