import { z } from "zod";

/** Bounds of one HTTP request to a build service. */
export interface HttpLimits {
  /** From the first byte sent to the last byte read, redirects included. */
  readonly request_ms: number;
  /** Without a further byte of the body for so long the answer counts as broken off. */
  readonly stall_ms: number;
  /** Of the decoded body. */
  readonly body_bytes_max: number;
}

/** The part of a runner's configuration that bounds its requests. A build with 1,000 jobs is about 2 MB of JSON. */
export const httpLimits = z
  .strictObject({
    request_ms: z.number().int().min(100).max(120_000).default(30_000),
    stall_ms: z.number().int().min(100).max(60_000).default(10_000),
    body_bytes_max: z
      .number()
      .int()
      .min(1_024)
      .max(64 << 20)
      .default(8 << 20),
  })
  .prefault({});

/** Where a service is: an http or https URL without user, query or fragment. A path is kept as a prefix. */
export const serviceUrl = z.url({ protocol: /^https?$/ }).refine(
  (text) => {
    const url = new URL(text);
    return url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  },
  { message: "a service's URL has no user, query or fragment; credentials are named, never written down" },
);

/** The name of a credential in the file of secrets. */
export const secretName = z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, {
  message: "a credential is named by 1 to 100 letters, digits, points, dashes and underscores",
});
