import { encode as encodeToon } from "@toon-format/toon";

/** How results are written for the model. */
export type ResultEncoding = "toon" | "text" | "structured" | "both";

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };
export type JsonObject = { readonly [key: string]: Json | undefined };

/** An encoded result in the form of a tool call's answer. */
export interface Encoded {
  readonly content: { readonly type: "text"; readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
  /** Bytes that the model sees. */
  readonly bytes: number;
}

/** The text of `value` in the chosen encoding; for `both` the text part. */
export function encodeText(value: JsonObject, encoding: ResultEncoding): string {
  return encoding === "toon" ? encodeToon(value) : JSON.stringify(value);
}

/** Bytes that `value` costs the model. */
export function encodedBytes(value: JsonObject, encoding: ResultEncoding): number {
  const bytes = Buffer.byteLength(encodeText(value, encoding));
  return encoding === "both" ? bytes * 2 : bytes;
}

export function encodeResult(value: JsonObject, encoding: ResultEncoding): Encoded {
  const text = encodeText(value, encoding);
  const bytes = encodedBytes(value, encoding);
  if (encoding === "toon" || encoding === "text") return { content: [{ type: "text", text }], bytes };
  // The text is what clients without structured content show; `structured` gives them the least.
  const shown = encoding === "both" ? text : "See structuredContent.";
  return { content: [{ type: "text", text: shown }], structuredContent: { ...value }, bytes };
}
