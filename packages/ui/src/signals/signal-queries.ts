import { dataOf, type SignalRequest } from "@millrace/client/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { client } from "../api/client.ts";
import type { Page } from "../api/queries.ts";

/** Nothing tells this page of changes; it looks again while somebody looks at it. */
const lookAgainMs = 3_000;

const requestsPerPage = 100;
const queuesMax = 200;

export type RequestState = SignalRequest["state"];

export function signalQueuesQuery(project: string) {
  return queryOptions({
    queryKey: ["signal-queues", project],
    queryFn: async ({ signal }) => {
      const query = { project, limit: queuesMax };
      return (await dataOf(client.GET("/queues", { params: { query }, signal }))).queues;
    },
    refetchInterval: lookAgainMs,
  });
}

export function signalRequestsQuery(queue: string, state: RequestState[] | undefined) {
  return infiniteQueryOptions({
    queryKey: ["signal-requests", queue, state] as const,
    queryFn: async ({ pageParam, signal }): Promise<Page<SignalRequest>> => {
      const query = {
        ...(state !== undefined && { state }),
        ...(pageParam !== "" && { cursor: pageParam }),
        limit: requestsPerPage,
      };
      const path = { queue };
      const answer = await dataOf(
        client.GET("/queues/{queue}/requests", { params: { path, query }, signal }),
      );
      return { rows: answer.requests, nextCursor: answer.nextCursor };
    },
    initialPageParam: "",
    getNextPageParam: (last) => last.nextCursor,
    refetchInterval: lookAgainMs,
  });
}

export function signalHistoryQuery(queue: string, number: number) {
  return queryOptions({
    queryKey: ["signal-request", queue, number],
    queryFn: ({ signal }) =>
      dataOf(
        client.GET("/queues/{queue}/requests/{number}", { params: { path: { queue, number } }, signal }),
      ),
    refetchInterval: lookAgainMs,
  });
}
