import type { ILiveDigest } from "@millrace/proto/pipeline";
import { z } from "zod";
import { clockTime } from "../logs/log-line.ts";

/** What is read of a fact; its schema may grow. */
const factSchema = z.object({
  type: z.string(),
  data: z.object({
    project: z.string(),
    invocationId: z.string(),
    attempt: z.number(),
    command: z.string().nullish(),
    status: z.string().nullish(),
    exitCodeName: z.string().nullish(),
  }),
});

/** Something that happened to a build. */
export type LiveNews =
  | { readonly kind: "fact"; readonly fact: unknown }
  | { readonly kind: "digest"; readonly digest: ILiveDigest };

/** One readable line; undefined for a fact of a form we do not know. */
export function readableLine(news: LiveNews, atMs: number): string | undefined {
  if (news.kind === "digest") {
    const { digest } = news;
    const log = `${(digest.logBytes ?? 0).toLocaleString("en")} bytes of log`;
    const what = `${(digest.lastSequence ?? 0).toLocaleString("en")} events, ${log}`;
    return line({
      atMs,
      project: digest.project,
      invocationId: digest.invocationId,
      attempt: digest.attempt,
      what,
    });
  }
  const fact = factSchema.safeParse(news.fact);
  if (!fact.success) return undefined;
  const { data, type } = fact.data;
  const status = data.status === "running" ? undefined : data.status;
  const details = [data.command, status, data.exitCodeName].filter((detail) => detail);
  const what = `${type.slice(type.lastIndexOf(".") + 1).toUpperCase()} ${details.join(" ")}`.trimEnd();
  return line({ ...data, atMs, what });
}

/** The same as one line of JSON, for programs. */
export function jsonLine(news: LiveNews): string {
  return JSON.stringify(news.kind === "fact" ? { fact: news.fact } : { digest: news.digest });
}

function line(of: {
  readonly atMs: number;
  readonly project: string | null | undefined;
  readonly invocationId: string | null | undefined;
  readonly attempt: number | null | undefined;
  readonly what: string;
}): string {
  const attempt = (of.attempt ?? 1) > 1 ? ` attempt ${of.attempt}` : "";
  return `${clockTime(of.atMs)} ${of.project} ${of.invocationId}${attempt}  ${of.what}`;
}
