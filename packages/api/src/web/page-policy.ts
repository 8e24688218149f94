import { createHash } from "node:crypto";

/**
 * The Content-Security-Policy of a page: only this origin's files, and of the scripts in the page itself just those that stand in
 * it now, by hash.
 */
export function pagePolicy(html: string): string {
  const hashes = inlineScripts(html).map((script) => `'sha256-${sha256(script)}'`);
  return [
    "default-src 'none'",
    ["script-src 'self'", ...hashes].join(" "),
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function inlineScripts(html: string): string[] {
  return [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    (match) => match[1] ?? "",
  );
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("base64");
}
