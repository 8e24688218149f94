// Node finds no named exports in this CommonJS module.
import protojson from "protobufjs/ext/protojson.js";
import protobuf from "protobufjs/light.js";
import descriptor from "../gen/bep-descriptor.json" with { type: "json" };
import "../protobuf-numbers.js";

/** A line of `--build_event_json_file` as the bytes of its build_event_stream.BuildEvent. */
export interface ConvertedEvent {
  readonly kind: "event";
  readonly bytes: Uint8Array;
  /** Paths of members the schema does not know (`testResult.newField`, enum names as `a.b=NAME`); they are dropped. */
  readonly unknown: readonly string[];
}

/** A line that is no JSON, or not JSON of a build event. */
export interface BrokenLine {
  readonly kind: "broken";
  readonly reason: string;
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

const root = protobuf.Root.fromJSON(descriptor as protobuf.INamespace).resolveAll();
const buildEvent = root.lookupType("build_event_stream.BuildEvent");

/**
 * Converts one line by the rules of proto3 JSON: base64 bytes, enum names, 64-bit numbers as strings, times as text,
 * lower camel case or the schema's names. What the schema does not know is reported, not fatal: a newer Bazel wrote it.
 * Exact for integers up to 2^53.
 */
export function convertJsonEvent(line: string): ConvertedEvent | BrokenLine {
  try {
    const json: Json = JSON.parse(line);
    const unknown: string[] = [];
    const known = dropUnknown({ value: json, type: buildEvent, path: "", unknown });
    return {
      kind: "event",
      bytes: buildEvent.encode(protojson.fromJson(buildEvent, known)).finish(),
      unknown,
    };
  } catch (error) {
    // JSON.parse and the conversion say by an exception what is wrong with the line; nothing else is called here.
    return { kind: "broken", reason: error instanceof Error ? error.message : String(error) };
  }
}

interface Place {
  readonly value: Json;
  readonly path: string;
  readonly unknown: string[];
}

/** A copy of `value` without what `type` does not have. Values of wrong types are left to the conversion. */
function dropUnknown({ value, type, path, unknown }: Place & { type: protobuf.Type }): Json {
  if (!isObject(value) || type.fullName.startsWith(".google.protobuf.")) {
    return isForeignAny(value, type) ? note(unknown, path) : value;
  }
  const kept: JsonObject = {};
  for (const [name, member] of Object.entries(value)) {
    const field = fieldsOf(type).get(name);
    const memberPath = path === "" ? name : `${path}.${name}`;
    if (field === undefined) note(unknown, memberPath);
    else kept[name] = dropInField({ value: member, field, path: memberPath, unknown });
  }
  return kept;
}

function dropInField({ value, field, path, unknown }: Place & { field: protobuf.Field }): Json {
  if (field.repeated && Array.isArray(value)) {
    // Null is not allowed in a list, so a dropped element goes altogether.
    return value
      .map((item, index) => dropInValue({ value: item, field, path: `${path}[${index}]`, unknown }))
      .filter((item, index) => item !== null || value[index] === null);
  }
  return dropInValue({ value, field, path, unknown });
}

function dropInValue({ value, field, path, unknown }: Place & { field: protobuf.Field }): Json {
  const type = field.resolvedType;
  if (type instanceof protobuf.Enum) {
    const isKnown = typeof value !== "string" || Object.hasOwn(type.values, value);
    return isKnown ? value : note(unknown, `${path}=${value}`);
  }
  return type instanceof protobuf.Type ? dropUnknown({ value, type, path, unknown }) : value;
}

function note(unknown: string[], path: string): null {
  unknown.push(path);
  return null;
}

/** An Any can be converted only if its type is in the schema. */
function isForeignAny(value: Json, type: protobuf.Type): boolean {
  if (type.fullName !== ".google.protobuf.Any" || !isObject(value)) return false;
  const typeUrl = value["@type"];
  if (typeof typeUrl !== "string") return false;
  return root.lookup(typeUrl.slice(typeUrl.lastIndexOf("/") + 1), [protobuf.Type]) === null;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const fieldIndexes = new Map<protobuf.Type, Map<string, protobuf.Field>>();

/** Fields by both names that JSON may use. */
function fieldsOf(type: protobuf.Type): Map<string, protobuf.Field> {
  let index = fieldIndexes.get(type);
  if (index === undefined) {
    index = new Map();
    for (const field of type.fieldsArray) {
      index.set(field.name, field);
      index.set(
        field.name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        field,
      );
    }
    fieldIndexes.set(type, index);
  }
  return index;
}
