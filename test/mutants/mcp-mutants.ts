import type { Mutant } from "./mutants.ts";

const unit = (file: string) => ({ project: "unit", file: `packages/mcp/src/${file}` });
const faults = { project: "mcp", file: "test/mcp/faults.test.ts" };
const parts = unit("store/parts.test.ts");
const store = unit("store/store.test.ts");

/** Each breaks one invariant of packages/mcp/STORE.md. */
export const mcpMutants: readonly Mutant[] = [
  {
    name: "mcp-change-not-announced",
    invariant: "STORE 1",
    file: "packages/mcp/src/store/commit-queue.ts",
    find: "      this.publisher.announce(changes.map((change) => change.id));\n",
    replace: "",
    killedBy: store,
  },
  {
    name: "mcp-unsettled-change-of-the-dead-forgotten",
    invariant: "STORE 2",
    file: "packages/mcp/src/maintain/maintainer.ts",
    find: "readJournal(changes, { publisher: publisher.id, from: 0 })",
    replace: "readJournal(changes, { publisher: publisher.id, from: 0, to: publisher.settled })",
    killedBy: faults,
  },
  {
    name: "mcp-final-state-left",
    invariant: "STORE 3",
    file: "packages/mcp/src/store/record.ts",
    find: "return from === to || next[from].includes(to);",
    replace: "return from === to || next[from].includes(to) || isTerminal(from);",
    killedBy: store,
  },
  {
    name: "mcp-snapshot-believed",
    invariant: "STORE 4",
    file: "packages/mcp/src/store/open-index.ts",
    find: "filter((shard) => snapshot?.shards.get(shard) !== shards.get(shard))",
    replace: "filter((shard) => snapshot?.shards.get(shard) === undefined)",
    killedBy: store,
  },
  {
    name: "mcp-late-contender-holds",
    invariant: "STORE 5",
    file: "packages/mcp/src/store/lease-lock.ts",
    find: "if (highest(at.directory) !== mine) {",
    replace: "if (highest(at.directory) < mine) {",
    killedBy: parts,
  },
  {
    name: "mcp-release-removes-generation",
    invariant: "STORE 6",
    file: "packages/mcp/src/store/lease-lock.ts",
    find: "replaceFile({ directory, name: String(generation), temporary }, JSON.stringify(free));",
    replace: 'unlinkSync([directory, generation].join("/"));',
    killedBy: parts,
  },
  {
    name: "mcp-process-known-by-number",
    invariant: "STORE 7",
    file: "packages/mcp/src/store/liveness.ts",
    find: "return started !== undefined && started === identity.started",
    replace: "return started !== undefined",
    killedBy: parts,
  },
  {
    name: "mcp-two-maintainers",
    invariant: "STORE 8",
    file: "packages/mcp/src/store/lease-lock.ts",
    find: "if (holder !== undefined && isHeld(at, holder, top)) return",
    replace: 'if (holder !== undefined && isHeld(at, holder, top) && at.purpose !== "upkeep") return',
    killedBy: faults,
  },
  {
    name: "mcp-live-record-removed",
    invariant: "STORE 8",
    file: "packages/mcp/src/maintain/retention.ts",
    find: "if (!isLive) kept.push(entry);",
    replace: "kept.push(entry);",
    killedBy: parts,
  },
  {
    name: "mcp-filter-sees-secrets",
    invariant: "STORE 9",
    file: "packages/mcp/src/pages/row-page.ts",
    find: "!at.query.filter.matches(text)) return;",
    replace: "!at.query.filter.matches(at.line.toString())) return;",
    killedBy: unit("pages/pages.prop.test.ts"),
  },
  {
    name: "mcp-newer-schema-read",
    invariant: "STORE 10",
    file: "packages/mcp/src/store/open-index.ts",
    find: "    into.damaged.set(id, errorText(error));\n",
    replace: "",
    killedBy: store,
  },
];
