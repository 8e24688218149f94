import type { Chance } from "./chance.ts";

type Words = readonly [string, ...string[]];

const areas: Words = [
  "services",
  "libs",
  "tools",
  "apps",
  "platform",
  "infra",
  "third_party",
  "proto",
  "web",
];
const domains: Words = [
  ...(["billing", "ledger", "search", "routing", "catalog", "pricing", "inventory", "metrics"] as const),
  ...["shipping", "payments", "graph", "storage", "compiler", "gateway", "reports", "geo", "feed", "media"],
];
const layers: Words = ["core", "api", "client", "server", "model", "codec", "internal", "store", "worker"];
const nouns: Words = [
  ...(["index", "parser", "planner", "cache", "queue", "encoder", "resolver", "schema"] as const),
  ...["router", "writer", "reader", "matcher", "tracer", "sampler", "merger", "batcher", "limiter", "pool"],
];
const people: Words = ["ann", "jonas", "mei", "priya", "tomasz", "olu", "carla", "yusuf", "ingrid", "kenji"];
const projects: Words = ["atlas", "harbor", "meridian", "quarry", "lantern", "cobalt", "juniper"];

/** `services/billing/core` */
export function packagePath(chance: Chance): string {
  const depth = chance.between(2, 4);
  const inner = [chance.pick(domains), chance.pick(layers), chance.pick(nouns)];
  return [chance.pick(areas), ...inner].slice(0, depth).join("/");
}

/** `batch_planner` */
export function identifier(chance: Chance): string {
  return `${chance.pick(chance.between(0, 1) === 0 ? domains : layers)}_${chance.pick(nouns)}`;
}

export function person(chance: Chance): string {
  return chance.pick(people);
}

export function project(chance: Chance): string {
  return chance.pick(projects);
}

/** A rule with what it makes. `<name>` stands for the target's. */
export interface RuleKind {
  readonly rule: string;
  readonly mnemonic: string;
  readonly outputs: Words;
}

export const libraryRules: readonly [RuleKind, ...RuleKind[]] = [
  { rule: "cc_library rule", mnemonic: "CppCompile", outputs: ["lib<name>.a", "lib<name>.so"] },
  { rule: "cc_binary rule", mnemonic: "CppLink", outputs: ["<name>"] },
  {
    rule: "java_library rule",
    mnemonic: "Javac",
    outputs: ["lib<name>.jar", "lib<name>-hjar.jar", "lib<name>-src.jar"],
  },
  { rule: "go_library rule", mnemonic: "GoCompilePkg", outputs: ["<name>.a", "<name>.x"] },
  { rule: "py_binary rule", mnemonic: "PyBinary", outputs: ["<name>.py", "<name>"] },
  {
    rule: "ts_project rule",
    mnemonic: "TsProject",
    outputs: ["<name>.js", "<name>.d.ts", "<name>.js.map", "<name>.tsbuildinfo"],
  },
  {
    rule: "proto_library rule",
    mnemonic: "GenProtoDescriptorSet",
    outputs: ["<name>-descriptor-set.proto.bin"],
  },
  { rule: "genrule rule", mnemonic: "Genrule", outputs: ["<name>.h", "<name>.cc"] },
];

export const testRules: readonly [RuleKind, ...RuleKind[]] = [
  { rule: "cc_test rule", mnemonic: "TestRunner", outputs: ["<name>"] },
  { rule: "go_test rule", mnemonic: "TestRunner", outputs: ["<name>_/<name>"] },
  { rule: "java_test rule", mnemonic: "TestRunner", outputs: ["<name>.jar", "<name>"] },
];
