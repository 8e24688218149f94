import { loadZstd } from "@millrace/base/zstd";
import { type Check, fail, ok, warn } from "./check.ts";

/** Type stripping without a flag, and zstd in zlib. */
const oldestNode = [22, 18] as const;

/** The runtime and what is built into it. */
export async function checkRuntime(version: string = process.versions.node): Promise<Check[]> {
  return [checkNode(version), await checkCodec()];
}

function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNewEnough = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
  if (isNewEnough) return ok("Node.js", version);
  return fail("Node.js", version, "Start Millrace by npm start or npx millrace: they bring a newer one.");
}

async function checkCodec(): Promise<Check> {
  const { codec, compress, decompress } = await loadZstd();
  const text = Buffer.from("a frame to and fro");
  const isRight = Buffer.from(await decompress(await compress(text, 1))).equals(text);
  if (!isRight)
    return fail("zstd", `${codec} does not give back what it was given`, "Run npm start once more.");
  if (codec === "@mongodb-js/zstd") return ok("zstd", codec);
  const todo =
    "It works, only slower. npm start builds the addon where a C++ compiler and libzstd are to be had.";
  return warn("zstd", `${codec}, because the addon of @mongodb-js/zstd does not load`, todo);
}
