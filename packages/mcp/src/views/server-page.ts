import type { Build } from "@millrace/client/client";
import { encodedBytes, type Json, type JsonObject, type ResultEncoding } from "../answer/encode.ts";
import { cutText } from "../answer/pack.ts";
import { refuse } from "../run/policy.ts";
import { stateOfStatus } from "../server-link/local-copy.ts";
import { type ServerBuilds, statusesOf } from "../server-link/server-builds.ts";
import type { InvocationsQuery } from "./invocations-page.ts";
import type { Page, PageRequest } from "./page.ts";

/** What of the answer is not items. */
const aroundBytes = 400;

/**
 * Builds of one project on the Millrace server, newest first. The server cuts pages, and its cursors pass through: so a page that
 * does not fit is asked for again with fewer builds.
 */
export async function serverPage(
  server: ServerBuilds,
  at: {
    project: string;
    request: PageRequest;
    query: InvocationsQuery;
    maxBytes: number;
    encoding: ResultEncoding;
  },
): Promise<Page> {
  const { request, query, project } = at;
  if (request.filter !== undefined || query.workspace !== undefined) {
    throw refuse(
      "server",
      "builds of a server are listed by project, state and command: leave filter and workspace out",
    );
  }
  const status = query.state === undefined ? undefined : statusesOf(query.state);
  if (status?.length === 0) {
    throw refuse(
      "server",
      `no build of a server is ${query.state}: use running, succeeded, failed, cancelled, interrupted`,
    );
  }
  for (let limit = request.limit; ; ) {
    const asked = { project, status, command: query.command, cursor: request.cursor, limit };
    const { builds, nextCursor } = await server.api.builds(asked);
    const items = builds.map(describe);
    const bytes = encodedBytes({ items: items as Json[] }, at.encoding) + aroundBytes;
    if (bytes <= at.maxBytes || limit === 1) {
      return { items, totalCount: null, filteredCount: null, cursorAfter: () => nextCursor ?? undefined };
    }
    limit = Math.max(1, Math.min(limit - 1, Math.floor((builds.length * at.maxBytes * 0.9) / bytes)));
  }
}

function describe(build: Build): JsonObject {
  const { tests, targets } = build;
  const parts = [
    ...(targets.failed > 0 ? [`${targets.failed} of ${targets.total} targets failed`] : []),
    ...(tests.failed > 0 ? [`${tests.failed} of ${tests.total} tests failed`] : []),
    ...(tests.flaky > 0 ? [`${tests.flaky} flaky`] : []),
  ];
  return {
    invocation_id: build.invocationId,
    state: stateOfStatus[build.status],
    command: build.command ?? "",
    arguments: cutText(build.patterns.slice(0, 3).join(" "), 128),
    requested_at: build.createdAt,
    duration_ms: build.durationMs,
    by: cutText([build.user, build.host].filter(Boolean).join("@"), 64),
    branch: cutText(build.branch ?? "", 64),
    headline: parts.length > 0 ? parts.join(", ") : (build.exitCodeName ?? ""),
  };
}
