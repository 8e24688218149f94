import { type Build, type BuildStatus, dataOf, type Target, type Test } from "@millrace/client/client";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { client } from "./client.ts";

/** What a list of builds is restricted to. */
export interface BuildFilter {
  readonly status?: BuildStatus[] | undefined;
  readonly command?: string[] | undefined;
  readonly user?: string[] | undefined;
}

/** What a list of targets or tests is restricted to. */
export interface RowFilter {
  readonly status?: string[] | undefined;
  readonly contains?: string | undefined;
}

export interface AttemptName {
  readonly project: string;
  readonly invocationId: string;
  /** The latest when left out. */
  readonly attempt?: number | undefined;
}

/** The same, decided. */
export interface AttemptRef {
  readonly project: string;
  readonly invocationId: string;
  readonly attempt: number;
}

export interface Page<T> {
  readonly rows: T[];
  readonly nextCursor: string | null;
}

const buildsPerPage = 50;
const rowsPerPage = 500;

export const serverQuery = queryOptions({
  queryKey: ["server"],
  queryFn: ({ signal }) => dataOf(client.GET("/server", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: ({ signal }) => dataOf(client.GET("/projects", { signal })),
  staleTime: 60_000,
});

export function buildsQuery(project: string, filter: BuildFilter) {
  return infiniteQueryOptions({
    queryKey: ["builds", project, filter] as const,
    queryFn: async ({ pageParam, signal }): Promise<Page<Build>> => {
      const query = { ...definedOf(filter), ...cursorOf(pageParam), limit: buildsPerPage };
      const answer = await dataOf(
        client.GET("/projects/{project}/builds", { params: { path: { project }, query }, signal }),
      );
      return { rows: answer.builds, nextCursor: answer.nextCursor };
    },
    initialPageParam: "",
    getNextPageParam: (last) => last.nextCursor,
  });
}

export function whereQuery(invocationId: string) {
  return queryOptions({
    queryKey: ["where", invocationId],
    queryFn: ({ signal }) =>
      dataOf(client.GET("/invocations/{invocationId}", { params: { path: { invocationId } }, signal })),
  });
}

export function invocationQuery({ attempt, ...path }: AttemptName) {
  return queryOptions({
    queryKey: ["invocation", path.project, path.invocationId, attempt ?? "latest"] as const,
    queryFn: ({ signal }) =>
      dataOf(
        client.GET("/projects/{project}/invocations/{invocationId}", {
          params: { path, query: attempt === undefined ? {} : { attempt } },
          signal,
        }),
      ),
  });
}

export function targetsQuery(name: AttemptRef, filter: RowFilter) {
  const { attempt, ...path } = name;
  return infiniteQueryOptions({
    queryKey: ["targets", path.project, path.invocationId, attempt, filter] as const,
    queryFn: async ({ pageParam, signal }): Promise<Page<Target>> => {
      const query = { ...definedOf(filter), ...cursorOf(pageParam), attempt, limit: rowsPerPage };
      const answer = await dataOf(
        client.GET("/projects/{project}/invocations/{invocationId}/targets", {
          params: { path, query },
          signal,
        }),
      );
      return { rows: answer.targets, nextCursor: answer.nextCursor };
    },
    initialPageParam: "",
    getNextPageParam: (last) => last.nextCursor,
  });
}

export function testsQuery(name: AttemptRef, filter: RowFilter) {
  const { attempt, ...path } = name;
  return infiniteQueryOptions({
    queryKey: ["tests", path.project, path.invocationId, attempt, filter] as const,
    queryFn: async ({ pageParam, signal }): Promise<Page<Test>> => {
      const query = { ...definedOf(filter), ...cursorOf(pageParam), attempt, limit: rowsPerPage };
      const answer = await dataOf(
        client.GET("/projects/{project}/invocations/{invocationId}/tests", {
          params: { path, query },
          signal,
        }),
      );
      return { rows: answer.tests, nextCursor: answer.nextCursor };
    },
    initialPageParam: "",
    getNextPageParam: (last) => last.nextCursor,
  });
}

export function testResultsQuery(name: AttemptRef, test: { label: string; configuration: string }) {
  const { attempt, ...path } = name;
  return queryOptions({
    queryKey: [
      "test-results",
      path.project,
      path.invocationId,
      attempt,
      test.label,
      test.configuration,
    ] as const,
    queryFn: ({ signal }) =>
      dataOf(
        client.GET("/projects/{project}/invocations/{invocationId}/test-results", {
          params: { path, query: { attempt, ...test, limit: 1_000 } },
          signal,
        }),
      ),
  });
}

/** Rows of just these labels, as they stand now. */
export async function rowsOfLabels(
  name: AttemptRef,
  label: string[],
): Promise<{ targets: Target[]; tests: Test[] }> {
  const { attempt, ...path } = name;
  const params = { path, query: { attempt, label, limit: 1_000 } };
  const [targets, tests] = await Promise.all([
    dataOf(client.GET("/projects/{project}/invocations/{invocationId}/targets", { params })),
    dataOf(client.GET("/projects/{project}/invocations/{invocationId}/tests", { params })),
  ]);
  return { targets: targets.targets, tests: tests.tests };
}

function cursorOf(pageParam: string): { cursor?: string } {
  return pageParam === "" ? {} : { cursor: pageParam };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function definedOf<T extends object>(filter: T): Defined<T> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** Options, metadata, configurations and what belongs to no target. */
export function detailsQuery(name: AttemptRef) {
  const { attempt, ...path } = name;
  return queryOptions({
    queryKey: ["details", path.project, path.invocationId, attempt] as const,
    queryFn: ({ signal }) =>
      dataOf(
        client.GET("/projects/{project}/invocations/{invocationId}/details", {
          params: { path, query: { attempt } },
          signal,
        }),
      ),
  });
}

/** What Bazel counted and timed; null until the build's end. */
export function metricsQuery(name: AttemptRef) {
  const { attempt, ...path } = name;
  return queryOptions({
    queryKey: ["metrics", path.project, path.invocationId, attempt] as const,
    queryFn: ({ signal }) =>
      dataOf(
        client.GET("/projects/{project}/invocations/{invocationId}/metrics", {
          params: { path, query: { attempt } },
          signal,
        }),
      ),
  });
}

/** The first failed actions, and how many actions of each kind Bazel told of. */
export function actionsQuery(name: AttemptRef) {
  const { attempt, ...path } = name;
  return queryOptions({
    queryKey: ["actions", path.project, path.invocationId, attempt] as const,
    queryFn: ({ signal }) =>
      dataOf(
        client.GET("/projects/{project}/invocations/{invocationId}/actions", {
          params: { path, query: { attempt, limit: 100 } },
          signal,
        }),
      ),
  });
}
