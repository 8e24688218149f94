import { createRoute, z } from "@hono/zod-openapi";
import { buildFields } from "@millrace/proto/build-fields";
import { storableText } from "../cursor.ts";
import { countedBuildsMax, countFacets, type FacetField, facetFields } from "../queries/build-facets.ts";
import { projectExists } from "../queries/projects.ts";
import { queryParameter, queryProblem, readQuery } from "../query/query-parameter.ts";
import { listOf, pageSize, projectName } from "../resources/names.ts";
import { notFound, problemResponses } from "../web/problem.ts";
import type { Api, ApiParts } from "./api.ts";

const valueSchema = z.object({ value: z.string(), count: z.number().int() });
const isLowerBound = z.boolean().openapi({
  description: `More than ${countedBuildsMax} builds match: the newest were counted, every count is a lower bound`,
});

const facets = createRoute({
  method: "get",
  path: "/projects/{project}/builds/facets",
  operationId: "countBuildFacets",
  summary: "How often values occur among the builds of a query",
  description: `Counts the newest ${countedBuildsMax} builds that match; \`isLowerBound\` says when there are more.`,
  request: {
    params: z.object({ project: projectName }),
    query: z.object({
      query: queryParameter,
      field: listOf(z.enum(facetFields), "These fields only"),
      limit: pageSize(10, 100),
    }),
  },
  responses: {
    200: {
      description: "Values of each field, the most frequent first",
      content: {
        "application/json": {
          schema: z.object({
            builds: z.number().int(),
            isLowerBound,
            facets: z.array(z.object({ field: z.enum(facetFields), values: z.array(valueSchema) })),
          }),
        },
      },
    },
    ...queryProblem,
    ...problemResponses(404, 503),
  },
});

const completions = createRoute({
  method: "get",
  path: "/projects/{project}/builds/values",
  operationId: "completeBuildValue",
  summary: "Values of a field, for completion while a query is typed",
  request: {
    params: z.object({ project: projectName }),
    query: z.object({
      field: z.enum(facetFields),
      prefix: storableText.optional().openapi({ description: "How the value begins, whatever its case" }),
      limit: pageSize(20, 100),
    }),
  },
  responses: {
    200: {
      description: "Values among the newest builds, the most frequent first",
      content: { "application/json": { schema: z.object({ isLowerBound, values: z.array(valueSchema) }) } },
    },
    ...problemResponses(400, 404, 503),
  },
});

const fields = createRoute({
  method: "get",
  path: "/query-fields",
  operationId: "listQueryFields",
  summary: "What a query about builds may name",
  responses: {
    200: {
      description: "All fields",
      content: {
        "application/json": {
          schema: z.object({
            fields: z.array(
              z.object({
                name: z.string(),
                kind: z.enum(["text", "choice", "number", "duration", "time"]),
                about: z.string(),
                example: z.string(),
                choices: z.array(z.string()),
                isCompleted: z.boolean().openapi({ description: "`/builds/values` knows its values" }),
              }),
            ),
          }),
        },
      },
    },
  },
});

export function addBuildFacetRoutes(api: Api, parts: ApiParts): void {
  addFacets(api, parts);
  addCompletions(api, parts);
  api.openapi(fields, (context) => {
    context.header("cache-control", "public, max-age=300");
    const described = buildFields.map((field) => ({
      name: field.name,
      kind: field.kind,
      about: field.about,
      example: field.example,
      choices: "choices" in field ? [...field.choices] : [],
      isCompleted: facetFields.some((name) => name === field.name),
    }));
    return context.json({ fields: described }, 200);
  });
}

function addFacets(api: Api, parts: ApiParts): void {
  api.openapi(facets, async (context) => {
    const { project } = context.req.valid("param");
    const { query: text, field, limit } = context.req.valid("query");
    const viewer = context.get("viewer");
    const query = readQuery(text);
    if (query instanceof Response) return query;
    if (!(await projectExists(parts.orm, viewer, project))) return notFound(`The project ${project}`);
    const fields: readonly FacetField[] = field === undefined ? facetFields : [...new Set(field)];
    const found = await countFacets(parts.orm, viewer, {
      project,
      query,
      nowMs: parts.clock.now(),
      fields,
      valuesMax: limit,
    });
    const grouped = fields.map((name) => ({
      field: name,
      values: found.values.flatMap((one) =>
        one.field === name ? [{ value: one.value, count: one.count }] : [],
      ),
    }));
    return context.json({ builds: found.builds, isLowerBound: found.isLowerBound, facets: grouped }, 200);
  });
}

function addCompletions(api: Api, parts: ApiParts): void {
  api.openapi(completions, async (context) => {
    const { project } = context.req.valid("param");
    const { field, prefix, limit } = context.req.valid("query");
    const viewer = context.get("viewer");
    if (!(await projectExists(parts.orm, viewer, project))) return notFound(`The project ${project}`);
    const found = await countFacets(parts.orm, viewer, {
      project,
      query: undefined,
      nowMs: parts.clock.now(),
      fields: [field],
      prefix,
      valuesMax: limit,
    });
    const values = found.values.map(({ value, count }) => ({ value, count }));
    return context.json({ isLowerBound: found.isLowerBound, values }, 200);
  });
}
