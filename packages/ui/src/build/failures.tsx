import type { Invocation, Target, Test } from "@millrace/client/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { targetsQuery, testsQuery } from "../api/queries.ts";
import { countOf, countText } from "../format/amounts.ts";
import { durationText } from "../format/duration.ts";
import { failedTestStatuses, targetLooks, testLook } from "../status/status.ts";
import { CopyButton } from "../widgets/copy-button.tsx";
import { StatusGlyph } from "../widgets/status-glyph.tsx";
import styles from "./failures.module.css";
import { groupByCause } from "./group-by-cause.ts";

/** As many as fit a first look; the rest is in the tables. */
const shownMax = 25;

/** What broke: the build's own message, then tests, then targets. Nothing when nothing did. */
export function Failures(props: { build: Invocation }) {
  const { build } = props;
  const name = { project: build.project, invocationId: build.invocationId, attempt: build.attempt };
  const hasTests = build.tests.failed > 0;
  const hasTargets = build.targets.failed > 0;
  const tests = useInfiniteQuery({ ...testsQuery(name, { status: failedTestStatuses }), enabled: hasTests });
  const targets = useInfiniteQuery({ ...targetsQuery(name, { status: ["failed"] }), enabled: hasTargets });
  const failedTests = hasTests ? (tests.data?.pages.flatMap((page) => page.rows) ?? []) : [];
  const failedTargets = hasTargets ? (targets.data?.pages.flatMap((page) => page.rows) ?? []) : [];
  return (
    <>
      {build.failureMessage === null ? null : (
        <section className={styles.cause} aria-label="Cause">
          <pre>{build.failureMessage}</pre>
        </section>
      )}
      {failedTests.length === 0 ? null : (
        <Group
          title={`${countOf(build.tests.failed, "test")} failed`}
          rest={build.tests.failed - Math.min(shownMax, failedTests.length)}
          to="/p/$project/i/$invocationId/tests"
          build={build}
          status={failedTestStatuses.join(",")}
        >
          {failedTests.slice(0, shownMax).map((test) => (
            <FailedTest key={test.label + test.configuration} test={test} build={build} />
          ))}
        </Group>
      )}
      {failedTargets.length === 0 ? null : (
        <Group
          title={`${countOf(build.targets.failed, "target")} failed to build`}
          rest={build.targets.failed - Math.min(shownMax, failedTargets.length)}
          to="/p/$project/i/$invocationId/targets"
          build={build}
          status="failed"
        >
          {groupByCause(failedTargets.slice(0, shownMax)).map((group) => (
            <li key={group.message} className={styles.causeGroup}>
              {group.targets.map((target) => (
                <FailedTarget
                  key={target.label + target.aspect + target.configuration}
                  target={target}
                  build={build}
                />
              ))}
              {group.message === null ? null : <pre className={styles.message}>{group.message}</pre>}
            </li>
          ))}
        </Group>
      )}
    </>
  );
}

function Group(props: {
  title: string;
  rest: number;
  to: "/p/$project/i/$invocationId/tests" | "/p/$project/i/$invocationId/targets";
  build: Invocation;
  status: string;
  children: ReactNode;
}) {
  const { build, status } = props;
  return (
    <section className={styles.group}>
      <h2 className={styles.title}>{props.title}</h2>
      <ul className={styles.list}>{props.children}</ul>
      {props.rest > 0 ? (
        <Link
          to={props.to}
          params={{ project: build.project, invocationId: build.invocationId }}
          search={(search) => ({ ...search, status })}
          className={styles.more}
        >
          Show {countText(props.rest)} more
        </Link>
      ) : null}
    </section>
  );
}

function FailedTest(props: { test: Test; build: Invocation }) {
  const { test, build } = props;
  const look = testLook(test.status);
  const facts = [
    look.word,
    test.durationMs === null ? undefined : durationText(test.durationMs),
    test.attempts > 1 ? countOf(test.attempts, "attempt") : undefined,
    test.shards > 1 ? countOf(test.shards, "shard") : undefined,
  ].filter((fact) => fact !== undefined);
  return (
    <li className={styles.item}>
      <StatusGlyph look={look} isDecorative />
      <Link
        to="/p/$project/i/$invocationId/tests"
        params={{ project: build.project, invocationId: build.invocationId }}
        search={(search) => ({ ...search, row: test.label, status: failedTestStatuses.join(",") })}
        className={styles.label}
      >
        <code>{test.label}</code>
      </Link>
      <span className={styles.facts}>{facts.join(" · ")}</span>
      <CopyButton text={`bazel test ${test.label}`} label="Copy the command that repeats it" isBare />
    </li>
  );
}

function FailedTarget(props: { target: Target; build: Invocation }) {
  const { target, build } = props;
  return (
    <div className={styles.item}>
      <StatusGlyph look={targetLooks[target.status]} isDecorative />
      <Link
        to="/p/$project/i/$invocationId/targets"
        params={{ project: build.project, invocationId: build.invocationId }}
        search={(search) => ({ ...search, row: target.label, status: "failed" })}
        className={styles.label}
      >
        <code>{target.label}</code>
      </Link>
      <span className={styles.facts}>{target.aspect === "" ? target.kind : target.aspect}</span>
      <CopyButton text={`bazel build ${target.label}`} label="Copy the command that repeats it" isBare />
    </div>
  );
}
