import type { Invocation } from "@millrace/client/client";
import { Link, useLocation, useNavigate } from "@tanstack/react-router";
import { bytesText, countText } from "../format/amounts.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import styles from "./build-tabs.module.css";

const base = "/p/$project/i/$invocationId";

interface Tab {
  readonly to: typeof base | `${typeof base}/${"log" | "targets" | "tests" | "details"}`;
  readonly label: string;
  readonly count?: string;
}

/** The tabs of a build; one without content is not shown. */
export function BuildTabs(props: { build: Invocation }) {
  const { build } = props;
  const tabs = tabsOf(build);
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const current = tabs.findIndex((tab) => tab.to !== base && pathname.endsWith(tab.to.slice(base.length)));
  const params = { project: build.project, invocationId: build.invocationId };
  const search = (before: { attempt?: number | undefined }) =>
    before.attempt === undefined ? {} : { attempt: before.attempt };
  const go = (step: number): void => {
    const tab = tabs[Math.max(0, current) + step];
    if (tab !== undefined) void navigate({ to: tab.to, params, search });
  };
  useShortcuts([
    { keys: "[", label: "Tab before", run: () => go(-1) },
    { keys: "]", label: "Next tab", run: () => go(1) },
  ]);
  return (
    <nav className={styles.tabs} aria-label="Parts of this build">
      {tabs.map((tab) => (
        <Link
          key={tab.to}
          to={tab.to}
          params={params}
          search={search}
          className={styles.tab}
          activeOptions={{ exact: tab.to === base, includeSearch: false }}
          activeProps={{ className: styles.active, "aria-current": "page" }}
        >
          {tab.label}
          {tab.count === undefined ? null : <span className={styles.count}>{tab.count}</span>}
        </Link>
      ))}
    </nav>
  );
}

function tabsOf(build: Invocation): Tab[] {
  const { targets, tests, logBytes } = build;
  return [
    { to: base, label: "Overview" },
    ...(logBytes > 0 ? [{ to: `${base}/log` as const, label: "Log", count: bytesText(logBytes) }] : []),
    ...(targets.total > 0
      ? [{ to: `${base}/targets` as const, label: "Targets", count: countText(targets.total) }]
      : []),
    ...(tests.total > 0
      ? [{ to: `${base}/tests` as const, label: "Tests", count: countText(tests.total) }]
      : []),
    { to: `${base}/details`, label: "Details" },
  ];
}
