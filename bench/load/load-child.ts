import { runAsChild } from "./load-process.ts";

/** One of several processes of a run (load-process.ts). Its argument is its share of the plan, as JSON. */
await runAsChild(JSON.parse(process.argv[2] ?? "{}"));
