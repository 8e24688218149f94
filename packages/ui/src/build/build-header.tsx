import type { Invocation } from "@millrace/client/client";
import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { LiveLink } from "../api/follow.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { commandText, exitText, resultSentence } from "../status/sentence.ts";
import { buildLooks } from "../status/status.ts";
import { CopyButton, copyText } from "../widgets/copy-button.tsx";
import { LiveMark } from "../widgets/live-mark.tsx";
import { StatusGlyph } from "../widgets/status-glyph.tsx";
import { Strip } from "../widgets/strip.tsx";
import { BuildDuration, TimeAgo } from "../widgets/times.tsx";
import styles from "./build-header.module.css";

/** What was run, how it went, by whom and where: answered without scrolling. */
export function BuildHeader(props: { build: Invocation; link: LiveLink }) {
  const { build, link } = props;
  const command = commandText(build);
  const look = buildLooks[build.status];
  useShortcuts([{ keys: "c", label: "Copy the command", run: () => void copyText(command) }]);
  const isFinal = build.status !== "running";
  return (
    <header className={styles.header}>
      <div className={styles.top}>
        <StatusGlyph look={look} size="large" isDecorative />
        <h1 className={styles.title}>
          <span className={styles.command}>{build.command ?? "build"}</span>{" "}
          <code className={styles.patterns} title={build.patterns.join("\n")}>
            {build.patterns.slice(0, 6).join(" ")}
            {build.patternCount > 6 ? ` +${build.patternCount - 6}` : ""}
          </code>
        </h1>
        <div className={styles.actions}>
          {isFinal ? null : <LiveMark link={link} />}
          <AttemptSwitch build={build} />
          <CopyButton text={command} label="Copy command" isBare />
        </div>
      </div>
      <p className={styles.result}>
        <span className={styles[look.tone]}>{resultSentence(build)}</span>
        <Dot />
        <BuildDuration build={build} />
        {isFinal && build.exitCode !== null && build.exitCode !== 0 ? (
          <>
            <Dot />
            <span className={styles.muted}>{exitText(build)}</span>
          </>
        ) : null}
      </p>
      <ul className={styles.chips}>
        <Chip label="Started">
          <TimeAgo time={build.startedAt ?? build.createdAt} suffix=" ago" />
        </Chip>
        <Chip label="User and host">{[build.user, build.host].filter(Boolean).join(" on ")}</Chip>
        <Chip label="Branch">{build.branch}</Chip>
        <Chip label="Commit">{build.commit === null ? null : <code>{build.commit.slice(0, 12)}</code>}</Chip>
        <Chip label="Role">{build.role}</Chip>
        <Chip label="Bazel">{build.toolVersion === null ? null : `Bazel ${build.toolVersion}`}</Chip>
      </ul>
      <div className={styles.strip}>
        <Strip build={build} isWide />
      </div>
    </header>
  );
}

function Dot() {
  return (
    <span className={styles.dot} aria-hidden="true">
      ·
    </span>
  );
}

function Chip(props: { label: string; children: ReactNode }) {
  if (props.children === null || props.children === "") return null;
  return (
    <li className={styles.chip} title={props.label}>
      <span className="visually-hidden">{props.label}: </span>
      {props.children}
    </li>
  );
}

/** Shown only when the invocation was tried more than once. */
function AttemptSwitch(props: { build: Invocation }) {
  const { build } = props;
  const navigate = useNavigate();
  if (build.attempts.length < 2) return null;
  const latest = build.attempts[0]?.attempt;
  return (
    <span className={styles.attempts}>
      <select
        className={styles.select}
        aria-label="Attempt"
        value={build.attempt}
        onChange={(event) => {
          const attempt = Number(event.currentTarget.value);
          void navigate({
            to: ".",
            search: (search) => ({ ...search, attempt: attempt === latest ? undefined : attempt }),
          });
        }}
      >
        {build.attempts.map((each) => (
          <option key={each.attempt} value={each.attempt}>
            Attempt {each.attempt}: {buildLooks[each.status].word}
          </option>
        ))}
      </select>
      {build.attempt === latest ? null : (
        <Link to="." search={(search) => ({ ...search, attempt: undefined })} className={styles.latest}>
          Show the latest
        </Link>
      )}
    </span>
  );
}
