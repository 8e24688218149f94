import { fakeRunnerKind } from "./runners/fake.ts";

/** Every kind of runner that a queue can name. A new kind is added here. */
export const runnerKinds = [fakeRunnerKind] as const;
