import { z } from "zod";
import { httpLimits, serviceUrl } from "./http/limits.ts";
import { requestTemplate } from "./http/request-template.ts";
import { headerTemplate, template } from "./http/template.ts";

const headers = z.record(z.string(), headerTemplate).default({});

const commandStart = z.strictObject({
  kind: z.literal("command"),
  /** The program and its arguments, without a shell. */
  argv: z.array(template).min(1),
  directory: z.string().startsWith("/"),
  /** Beside PATH and HOME, which are the controller's own. */
  environment: z.record(z.string(), template).default({}),
});
export type CommandStart = z.infer<typeof commandStart>;

/** Who starts Bazel when a build is wanted. */
const start = z.discriminatedUnion("kind", [
  /**
   * A service runs `bazel --invocation_id={invocation_id} --bes_backend=…` when it is asked to. It may be asked again
   * with the same invocation id and should then do nothing.
   */
  z.strictObject({
    kind: z.literal("http"),
    base_url: serviceUrl,
    /** Sent with every request to it; credentials by name. */
    headers,
    request: requestTemplate,
    /** Interrupts that Bazel; absent: it cannot be cancelled. */
    cancel: requestTemplate.optional(),
  }),
  /** A command on the controller's machine runs `bazel --invocation_id={invocation_id} --bes_backend=…`. */
  commandStart,
  /** Whoever watches the queue's requests starts Bazel with the invocation id that stands there. */
  z.strictObject({ kind: z.literal("expected") }),
]);

export const millraceConfig = z.strictObject({
  kind: z.literal("millrace"),
  /** Millrace's own address: the one of its dashboard and API. */
  server: serviceUrl,
  /** Headers of its API; credentials by name. */
  headers,
  /** The project that Bazel streams into; the queue's own when absent. */
  project: z.string().min(1).max(100).optional(),
  start,
  /** A build whose stream broke off may be taken up again for so long; then it has ended without a verdict. */
  disconnected_ms: z
    .number()
    .int()
    .min(0)
    .default(10 * 60_000),
  limits: httpLimits,
});
export type MillraceConfig = z.infer<typeof millraceConfig>;
