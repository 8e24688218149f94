import type { Matcher } from "@millrace/base/query/match-query";
import type { WatchedState } from "../queries/watch.ts";
import type { Build } from "../resources/build.ts";
import { buildEvent, goneEvent } from "./live-events.ts";
import type { Outbox } from "./outbox.ts";
import { Topic } from "./topic.ts";

/** Builds that a viewer was told to leave out, at most; the oldest is told of again. */
const goneMax = 2_000;

/** One viewer's query, and which builds the viewer knows not to fulfil it. */
export class ViewerFilter {
  readonly matcher: Matcher;
  private readonly gone = new Set<string>();

  constructor(matcher: Matcher) {
    this.matcher = matcher;
  }

  /** `nothing` when a build that the viewer leaves out already still does not fulfil the query. */
  judge(invocationId: string, isMatch: boolean): "build" | "gone" | "nothing" {
    if (isMatch) {
      this.gone.delete(invocationId);
      return "build";
    }
    if (this.gone.has(invocationId)) return "nothing";
    this.gone.add(invocationId);
    const [oldest] = this.gone;
    if (this.gone.size > goneMax && oldest !== undefined) this.gone.delete(oldest);
    return "gone";
  }
}

/** Those who watch the builds of one project. */
export class ProjectTopic extends Topic {
  readonly project: string;
  /** Of viewers that have a query; goes with the viewer. */
  readonly filters = new WeakMap<Outbox, ViewerFilter>();
  /** Where the running builds stood when they were last looked at. */
  running = new Map<number, WatchedState>();

  constructor(project: string) {
    super();
    this.project = project;
  }

  /** A build that leaves a viewer's query is `gone` once; what never was in it costs the viewer one such event. */
  tell(build: Build, fulfils: (matcher: Matcher) => boolean): void {
    for (const viewer of this.viewers) {
      const filter = this.filters.get(viewer);
      const news = filter === undefined ? "build" : filter.judge(build.invocationId, fulfils(filter.matcher));
      if (news === "build") viewer.offer(build.invocationId, buildEvent(build));
      if (news === "gone") viewer.offer(build.invocationId, goneEvent(build));
    }
  }
}
