import { findValidKey, keyDigest } from "@millrace/db/api-keys";
import { type Orm, read } from "./queries/read.ts";
import { isAdminToken } from "./signal-access.ts";
import type { ViewerOf } from "./viewer.ts";
import { problem } from "./web/problem.ts";

/**
 * Who reads where a key is needed: the admin token sees every project, a key with the scope `read` its own. The key
 * is that of ingest: in `x-api-key`, as a bearer token, or as the password of Basic, for which browsers ask people.
 * Each request looks it up: a revoked key ends at once. What changes something wants more than what is known here:
 * a browser sends Basic by itself, also when another site makes it ask.
 */
export function keyMode(of: { orm: Orm; adminToken: string }): ViewerOf {
  return async ({ headers }) => {
    const text = headers.get("x-api-key") ?? credential(headers.get("authorization") ?? "");
    if (text === undefined) {
      return unauthorized("no-key", "This server needs an API key: send it in the header x-api-key.");
    }
    if (isAdminToken(of, text)) return { projects: "all" };
    const key = await read("the API key", () => findValidKey(of.orm, keyDigest(text)));
    if (key === undefined) {
      return unauthorized("bad-key", "The API key is unknown, expired or revoked: have a new one made.");
    }
    if (key.scopes.includes("read")) return { projects: new Set([key.projectId]) };
    const detail = `This API key may not read: it lacks the scope "read" in project "${key.projectId}".`;
    return problem({ status: 403, code: "wrong-scope", detail });
  };
}

function credential(authorization: string): string | undefined {
  const [, scheme, value = ""] = /^(Bearer|Basic) +(\S+)$/i.exec(authorization) ?? [];
  if (scheme === undefined || scheme.toLowerCase() === "bearer") return scheme && value;
  const text = Buffer.from(value, "base64").toString("utf8");
  return text.slice(text.indexOf(":") + 1);
}

function unauthorized(code: string, detail: string): Response {
  return problem({
    status: 401,
    code,
    detail,
    headers: { "www-authenticate": 'Basic realm="an API key of Millrace is the password", charset="UTF-8"' },
  });
}
