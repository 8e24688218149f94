import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ReadResourceRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { encodeText, type JsonObject } from "../answer/encode.ts";
import { refuse } from "../run/policy.ts";
import { isUuid } from "../store/uuid7.ts";
import type { ToolContext } from "../tools/context.ts";
import { viewPage } from "../views/view-page.ts";

const scheme = "bazel://invocations/";
const listed = 20;
const logLines = 2000;

/** Summaries and logs as resources, for clients that let a person attach them. */
export function addResources(server: Server, context: ToolContext): void {
  server.setRequestHandler(ListResourcesRequestSchema, async () => {
    context.store.refresh();
    const resources: { uri: string; name: string; mimeType: string }[] = [];
    for (const entry of context.store.index.newest()) {
      if (resources.length === listed) break;
      const at = new Date(entry.requestedAtMs).toISOString();
      resources.push({
        uri: `${scheme}${entry.id}/summary`,
        name: `bazel ${entry.command}, ${entry.state}, ${at}`,
        mimeType: "application/json",
      });
    }
    return { resources };
  });
  server.setRequestHandler(ListResourceTemplatesRequestSchema, async () => ({
    resourceTemplates: [
      {
        uriTemplate: `${scheme}{id}/summary`,
        name: "Summary of an invocation",
        mimeType: "application/json",
      },
      { uriTemplate: `${scheme}{id}/log`, name: "Log of an invocation", mimeType: "text/plain" },
    ],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async (request) => {
    const { uri } = request.params;
    const match = /^bazel:\/\/invocations\/([0-9a-f-]{36})\/(summary|log)$/.exec(uri);
    const id = match?.[1] ?? "";
    if (match === null || !isUuid(id)) {
      throw refuse(
        "resource",
        `${uri} is not a resource of this server: use ${scheme}ID/summary or ${scheme}ID/log`,
      );
    }
    context.store.refresh();
    const view = match[2] === "log" ? "log" : "summary";
    const page = await viewPage(context.runner.get(id)?.invocation ?? context.store.read(id), {
      view,
      request: {
        limit: logLines,
        filter: undefined,
        caseSensitive: false,
        cursor: undefined,
        stream: undefined,
      },
      context,
    });
    const text =
      view === "log" ? page.items.join("\n") : encodeText((page.items[0] ?? {}) as JsonObject, "text");
    const mimeType = view === "log" ? "text/plain" : "application/json";
    return { contents: [{ uri, mimeType, text }] };
  });
}
