import { readFile } from "node:fs/promises";
import { ConfigError } from "@millrace/base/config";
import { errorText } from "@millrace/base/errors";
import { z } from "zod";
import { type SignalConfig, signalConfigShape } from "./queue-config.ts";

const secretsShape = z.record(z.string(), z.string());

/** Reads the file of queues; no file: no queues. Fails with a `ConfigError` that names every problem. */
export async function readSignalConfig(file: string): Promise<SignalConfig> {
  return await readJson(file, signalConfigShape);
}

/** Reads the file of secrets. A problem is told without its content. */
export async function readSecrets(file: string): Promise<ReadonlyMap<string, string>> {
  return new Map(Object.entries(await readJson(file, secretsShape)));
}

async function readJson<T>(file: string, shape: z.ZodType<T>): Promise<T> {
  if (file === "") return shape.parse({});
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new ConfigError([`${file} cannot be read: ${errorText(error)}`]);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new ConfigError([`${file} is not JSON`]);
  }
  const parsed = shape.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    parsed.error.issues.map((issue) => `${file}, ${issue.path.join(".")}: ${issue.message}`),
  );
}
