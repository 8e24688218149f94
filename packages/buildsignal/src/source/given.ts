import { z } from "zod";
import type { SourceKind } from "../queue-directory.ts";

const givenConfig = z.strictObject({ kind: z.literal("given") });

/** No repository: commits are named by whoever announces them, every build is a full one, nothing is promoted. */
export const givenSourceKind: SourceKind<z.infer<typeof givenConfig>> = {
  kind: "given",
  config: givenConfig,
  create: () => ({
    head: async () => undefined,
    isAncestor: async () => undefined,
    promote: async () => "promoted",
  }),
};
