import { createClient } from "@millrace/client/client";

/** Where this page came from. */
export const origin = { origin: "" } as const;

export const client = createClient(origin);
