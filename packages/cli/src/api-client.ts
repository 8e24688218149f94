import { errorText, MillraceError } from "@millrace/base/errors";
import { z } from "zod";

const problemSchema = z.object({ detail: z.string() });
const serverSchema = z.object({ resultsUrl: z.string(), bazelrc: z.array(z.string()) });

/** What the API says of itself. */
export type ServerFacts = z.infer<typeof serverSchema>;

/** GET on the API of `server`. Fails with a sentence: what the API answered, or that it does not. */
export async function getFromApi(server: string, what: { path: string; apiKey: string }): Promise<Response> {
  const headers = { ...(what.apiKey !== "" && { "x-api-key": what.apiKey }) };
  let response: Response;
  try {
    response = await fetch(`${server}/api/v1${what.path}`, { headers });
  } catch (cause) {
    throw new MillraceError({
      remedy: "retry",
      code: "api-away",
      message: `${server} does not answer: ${whyOf(cause)}`,
    });
  }
  if (response.ok) return response;
  const problem = problemSchema.safeParse(await response.json().catch(() => undefined));
  const said = problem.success ? problem.data.detail : `status ${response.status}`;
  throw new MillraceError({ remedy: "reject", code: "api-refused", message: `${server} answers: ${said}` });
}

/** Facts about the server, among them where builds are shown. */
export async function readServerFacts(server: string): Promise<ServerFacts> {
  const response = await getFromApi(server, { path: "/server", apiKey: "" });
  const facts = serverSchema.safeParse(await response.json());
  if (facts.success) return facts.data;
  throw new MillraceError({ remedy: "reject", code: "not-millrace", message: `${server} is no Millrace` });
}

/** `fetch failed` says nothing; its cause does. */
function whyOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? error.cause.message : errorText(error);
}
