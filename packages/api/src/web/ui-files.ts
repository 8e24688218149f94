import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { pagePolicy } from "./page-policy.ts";

interface UiFile {
  readonly bytes: Uint8Array;
  readonly type: string;
  readonly tag: string;
  /** Its name has the hash of its content. */
  readonly hashed: boolean;
  /** Compressed on first use, by encoding. */
  readonly encoded: Map<string, Promise<Uint8Array>>;
}

/** The built dashboard, held in memory: a few hundred kilobytes. */
export interface UiFiles {
  /** The file at a path, or the page for a path that is one of the dashboard's; undefined for anything else. */
  answer(request: {
    path: string;
    header: (name: string) => string | undefined;
  }): Promise<Response | undefined>;
}

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  ico: "image/x-icon",
  json: "application/json",
  webmanifest: "application/manifest+json",
  txt: "text/plain; charset=utf-8",
  woff2: "font/woff2",
};

const page = "/index.html";

/** Reads a build of the dashboard. Fails when the directory or its page is missing. */
export async function loadUiFiles(directory: string): Promise<UiFiles> {
  const files = new Map<string, UiFile>();
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(directory.length).replaceAll("\\", "/");
    files.set(name.startsWith("/") ? name : `/${name}`, uiFile(name, await readFile(path)));
  }
  const index = files.get(page);
  if (index === undefined) throw new Error(`${directory} holds no index.html: build the dashboard first`);
  const policy = pagePolicy(new TextDecoder().decode(index.bytes));
  return {
    answer: async (request) => {
      const file = files.get(request.path);
      if (file === undefined && !isPagePath(request.path)) return undefined;
      // On every file: a worker lives under the policy that came with its script, not under the page's.
      return respond(file ?? index, request.header, { "content-security-policy": policy });
    },
  };
}

/** A path whose last part has no extension is a place in the dashboard. Ids of invocations may hold dots. */
function isPagePath(path: string): boolean {
  return path.startsWith("/p/") || path.startsWith("/i/") || !path.slice(path.lastIndexOf("/")).includes(".");
}

function uiFile(name: string, bytes: Uint8Array): UiFile {
  const extension = name.slice(name.lastIndexOf(".") + 1);
  return {
    bytes,
    type: types[extension] ?? "application/octet-stream",
    tag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    hashed: name.includes("/assets/") || name.startsWith("assets/"),
    encoded: new Map(),
  };
}

async function respond(
  file: UiFile,
  header: (name: string) => string | undefined,
  more: Record<string, string>,
): Promise<Response> {
  const headers: Record<string, string> = {
    ...more,
    "content-type": file.type,
    "cache-control": file.hashed ? "public, max-age=31536000, immutable" : "no-cache",
    etag: file.tag,
    vary: "accept-encoding",
  };
  if (header("if-none-match")?.includes(file.tag)) return new Response(null, { status: 304, headers });
  const encoding = encodingFor(file, header("accept-encoding") ?? "");
  if (encoding === "identity") return new Response(copied(file.bytes), { headers });
  const body = await encodedBytes(file, encoding);
  return new Response(copied(body), { headers: { ...headers, "content-encoding": encoding } });
}

type Encoding = "br" | "gzip" | "identity";

function encodingFor(file: UiFile, accepted: string): Encoding {
  if (/^(image\/png|font\/|application\/octet)/.test(file.type)) return "identity";
  if (/\bbr\b/.test(accepted)) return "br";
  return /\bgzip\b/.test(accepted) ? "gzip" : "identity";
}

function encodedBytes(file: UiFile, encoding: "br" | "gzip"): Promise<Uint8Array> {
  const known = file.encoded.get(encoding);
  if (known !== undefined) return known;
  const made = encoding === "br" ? brotli(file.bytes) : promisify(gzip)(file.bytes, { level: 9 });
  file.encoded.set(encoding, made);
  return made;
}

function brotli(bytes: Uint8Array): Promise<Uint8Array> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  return promisify(brotliCompress)(bytes, { params });
}

/** A body may be detached by its response; the kept bytes may not. */
function copied(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
