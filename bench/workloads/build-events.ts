import type { build_event_stream } from "@millrace/proto/gen/bep";
import { finishedEvent, metricsEvent, symlinksEvent, toolLogsEvent } from "./closing-events.ts";
import { commandLineEvents } from "./command-lines.ts";
import { ConsoleWriter } from "./console-text.ts";
import {
  buildMetadataEvent,
  configurationEvents,
  expandedEvent,
  fetchEvents,
  startedEvent,
  workspaceInfoEvent,
  workspaceStatusEvent,
} from "./opening-events.ts";
import type { PlantedSecrets } from "./planted-secrets.ts";
import type { BuildSketch, TargetSketch } from "./sketch.ts";
import {
  actionEvent,
  completedEvent,
  configuredEvent,
  namedSetEvent,
  skippedEvent,
} from "./target-events.ts";
import { planTests, type TestPlan, testResultEvent, testSummaryEvent } from "./test-events.ts";

type Bep = build_event_stream.BuildEvent.$Properties;
type Id = build_event_stream.BuildEventId.$Properties;

/** The events of a build in the order of Bazel 7: the once-per-build ones, analysis, execution, the end. */
export function buildEvents(
  build: BuildSketch,
  of: { readonly secrets: PlantedSecrets; readonly printedCharsMin: number },
): Bep[] {
  const { secrets, printedCharsMin } = of;
  const console = new ConsoleWriter(build, secrets, { printedCharsMin });
  const opening = openingEvents(build, { secrets, console, labels: build.targets.map(({ label }) => label) });
  const configured = build.targets.map(configuredEvent);
  const work = executionEvents(build);
  const execution = withProgress(work, { console, count: build.recipe.progress - 2 });
  return [...opening, ...configured, ...execution, console.last(), ...closingEvents(build)];
}

export function openingEvents(
  build: BuildSketch,
  of: { secrets: PlantedSecrets; console: ConsoleWriter; labels: Iterable<string> },
): Bep[] {
  const { unstructured, parsed, structured } = commandLineEvents(build, of.secrets);
  const metadata = buildMetadataEvent(build);
  const status = workspaceStatusEvent(build);
  const expanded = expandedEvent(build, of.labels);
  const once = [metadata, unstructured, parsed, ...structured];
  const announced = [{ progress: { opaqueCount: 0 } }, ...[...once, status, expanded].map(idOf)];
  const configurations = configurationEvents(build);
  return [
    startedEvent(build, [...announced, { buildFinished: {} }]),
    ...once,
    expanded,
    of.console.first([{ workspace: {} }, ...configurations.map(idOf)]),
    workspaceInfoEvent(build),
    status,
    ...configurations,
    ...fetchEvents(build),
  ];
}

export function closingEvents(build: BuildSketch): Bep[] {
  return [finishedEvent(build), symlinksEvent(build), metricsEvent(build), toolLogsEvent(build)];
}

/** What happens to each target in turn: its action, its files, its completion, its tests. `setId` names the nth set. */
export function executionEvents(build: BuildSketch, setId: (set: number) => string = String): Bep[] {
  const { targets, recipe, chance } = build;
  const plans = planTests(build);
  const firstTest = targets.length - recipe.testSummary;
  let sets = 0;
  const events = targets.flatMap((target, index) => {
    const namedSets: Bep[] = [];
    for (; sets < share(recipe.namedSetOfFiles, { index, of: targets.length }); sets += 1) {
      const parts = sets > 0 && chance.between(1, 3) === 1 ? [setId(chance.between(0, sets - 1))] : [];
      namedSets.push(namedSetEvent(build, { id: setId(sets), files: target.files, parts }));
    }
    const plan = plans[index - firstTest];
    return [
      // The target that fails is the first, and its action is among those told of.
      ...(index < recipe.action ? [actionEvent(build, target)] : []),
      ...namedSets,
      completedEvent(
        build,
        target,
        namedSets.map(({ id }) => id?.namedSet?.id ?? ""),
      ),
      ...(plan === undefined ? [] : testEvents(build, target, plan)),
    ];
  });
  return [...events, ...Array.from({ length: recipe.aborted }, () => skippedEvent(build))];
}

function testEvents(build: BuildSketch, target: TargetSketch, plan: TestPlan): Bep[] {
  const results = plan.executions.map((execution) => testResultEvent(build, target, execution));
  return [...results, testSummaryEvent(build, target, plan)];
}

/** Of `total` things dealt out evenly to `of` places, how many lie in the places up to `index`. */
function share(total: number, at: { index: number; of: number }): number {
  return Math.floor(((at.index + 1) * total) / at.of);
}

/** Puts progress events evenly between others, each announcing what follows as far as nothing else has. */
export function withProgress(work: readonly Bep[], of: { console: ConsoleWriter; count: number }): Bep[] {
  return work.flatMap((event, index) => {
    const due =
      share(of.count, { index, of: work.length }) - share(of.count, { index: index - 1, of: work.length });
    const announced = event.completed || event.testResult || event.testSummary ? [] : [idOf(event)];
    return [
      ...Array.from({ length: due }, (_, nth) => of.console.next(nth === due - 1 ? announced : [])),
      event,
    ];
  });
}

function idOf(event: Bep): Id {
  return event.id ?? {};
}
