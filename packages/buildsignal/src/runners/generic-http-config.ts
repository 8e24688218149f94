import { z } from "zod";
import { httpLimits, serviceUrl } from "./http/limits.ts";
import { jsonPointer } from "./http/pointer.ts";
import { requestTemplate } from "./http/request-template.ts";
import { headerTemplate } from "./http/template.ts";

/** Any JSON value, but not the absence of one. */
export const anyJson = z
  .unknown()
  .refine((value) => value !== undefined, { message: "the body is not JSON" });

/** What a word of the service means; `no_verdict` ends the build as failed without a word about the commit. */
const meaning = z.enum(["unknown", "accepted", "running", "succeeded", "failed", "cancelled", "no_verdict"]);

export const genericHttpConfig = z.strictObject({
  kind: z.literal("generic-http"),
  /** For messages. */
  name: z.string().min(1).max(100).default("The build service"),
  base_url: serviceUrl,
  /** Sent with every request; credentials by name: `Bearer {secret:ci-token}`. */
  headers: z.record(z.string(), headerTemplate).default({}),
  /** Looks for a build that carries `{key}`: nothing at `id`, or 404, means that there is none. */
  find: z.strictObject({ request: requestTemplate, id: jsonPointer, url: jsonPointer.optional() }).optional(),
  trigger: z.strictObject({
    request: requestTemplate,
    /** Where the service's id of the build stands in the answer. */
    id: jsonPointer,
    url: jsonPointer.optional(),
    /** The request carries `{key}` and the service starts one build per key, however often it is sent. */
    key_is_idempotent: z.boolean().default(false),
  }),
  status: z.strictObject({
    request: requestTemplate,
    /** Where the state stands; of several the first that is neither absent, null nor empty. */
    state: z.union([jsonPointer, z.array(jsonPointer).min(1)]),
    states: z.record(z.string(), meaning),
    url: jsonPointer.optional(),
  }),
  /** Absent: builds cannot be cancelled. */
  cancel: z
    .strictObject({
      request: requestTemplate,
      /** Statuses that say that the build has ended already. */
      ended: z.array(z.number().int().min(400).max(499)).default([404, 409]),
    })
    .optional(),
  limits: httpLimits,
});
export type GenericHttpConfig = z.infer<typeof genericHttpConfig>;
