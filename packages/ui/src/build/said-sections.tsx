import type { Details, Invocation } from "@millrace/client/client";
import { useQuery } from "@tanstack/react-query";
import { detailsQuery } from "../api/queries.ts";
import { countOf, countText } from "../format/amounts.ts";
import { Failure } from "../widgets/note.tsx";
import { Copied, Row, Section } from "./detail-section.tsx";

/** How Bazel was called, and what it said that belongs to no target. */
export function SaidSections({ build }: { build: Invocation }) {
  const { project, invocationId, attempt } = build;
  const { data, error, refetch } = useQuery(detailsQuery({ project, invocationId, attempt }));
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return null;
  return (
    <>
      <ProblemsSection details={data} />
      <OptionsSection details={data} />
      <PairsSection title="Build metadata" pairs={data.buildMetadata} />
      <PairsSection title="Workspace status" pairs={data.workspaceStatus} />
      <ConfigurationsSection details={data} />
      <SuitesSection details={data} />
      <MachineSection details={data} />
    </>
  );
}

/** One option a line. */
function lines(options: readonly string[]) {
  return options.length === 0 ? null : <Copied text={options.join("\n")} />;
}

function OptionsSection({ details }: { details: Details }) {
  const explicit = new Set(details.explicitOptions);
  const fromElsewhere = details.options.filter((option) => !explicit.has(option));
  return (
    <Section title="Options">
      <Row label="Set explicitly">{lines(details.explicitOptions)}</Row>
      <Row label="From rc files">{lines(fromElsewhere)}</Row>
      <Row label="Startup">{lines(details.startupOptions)}</Row>
      <Row label="Tool tag">{details.toolTag}</Row>
    </Section>
  );
}

function PairsSection({ title, pairs }: { title: string; pairs: Readonly<Record<string, string>> }) {
  return (
    <Section title={title}>
      {Object.entries(pairs).map(([name, value]) => (
        <Row key={name} label={name}>
          {value}
        </Row>
      ))}
    </Section>
  );
}

function ConfigurationsSection({ details }: { details: Details }) {
  return (
    <Section title="Configurations">
      {details.configurations.map(({ id, mnemonic, platform, cpu, isTool }) => (
        <Row key={id} label={isTool ? "For tools" : "For targets"}>
          {[mnemonic, cpu, platform]
            .filter((part, at, all) => part !== null && all.indexOf(part) === at)
            .join(", ") || id.slice(0, 12)}
        </Row>
      ))}
    </Section>
  );
}

/** `LOADING_FAILURE` → `Loading failure`. */
function words(name: string): string {
  const text = name.toLowerCase().replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function ProblemsSection({ details }: { details: Details }) {
  return (
    <Section title="Did not come">
      {details.problems.map(({ sequence, subject, reason, description }) => (
        <Row key={sequence} label={words(reason)}>
          {[subject, description].filter((part) => part !== null).join("\n")}
        </Row>
      ))}
    </Section>
  );
}

function SuitesSection({ details }: { details: Details }) {
  return (
    <Section title="Patterns">
      <Row label="Targets">{details.patternTargets === null ? null : countText(details.patternTargets)}</Row>
      {Object.entries(details.testSuites).map(([suite, tests]) => (
        <Row key={suite} label={suite}>
          {countOf(tests.length, "test")}
        </Row>
      ))}
    </Section>
  );
}

function MachineSection({ details }: { details: Details }) {
  const failed = details.fetches.filter(({ success }) => !success);
  return (
    <Section title="Machine">
      <Row label="Execution root">{details.localExecRoot}</Row>
      <Row label="Bazel server">{details.serverPid === null ? null : `process ${details.serverPid}`}</Row>
      <Row label="Slept meanwhile">{details.wasSuspended ? "Yes: times say little" : null}</Row>
      <Row label="Downloads">
        {details.fetches.length === 0
          ? null
          : `${countText(details.fetches.length)}${failed.length === 0 ? "" : `, ${countText(failed.length)} failed`}`}
      </Row>
      {details.unknown.map(({ what, events }) => (
        <Row key={what} label="Not known here">{`${what}, in ${countOf(events, "event")}`}</Row>
      ))}
    </Section>
  );
}
