import { once } from "node:events";
import { createServer } from "node:net";
import { errorCode, MillraceError } from "@millrace/base/errors";

/** A port that somebody has asked for. */
export interface WantedPort {
  readonly host: string;
  /** 0 is always to be had. */
  readonly port: number;
  /** Which flag chooses another one. */
  readonly flag: string;
}

/** Fails with a sentence when a port cannot be had, before anything is started that would have to be stopped. */
export async function checkPort(wanted: WantedPort): Promise<void> {
  const code = await listenError(wanted);
  if (code === "") return;
  throw new MillraceError({ remedy: "crash", code: "port", message: problemOf(code, wanted) });
}

/** The port if it is free, else 0. */
export async function portOrAny(wanted: { host: string; port: number }): Promise<number> {
  return (await listenError(wanted)) === "" ? wanted.port : 0;
}

async function listenError(at: { host: string; port: number }): Promise<string> {
  const server = createServer();
  try {
    server.listen(at.port, at.host);
    await once(server, "listening");
    return "";
  } catch (error) {
    return errorCode(error) || "unknown";
  } finally {
    if (server.listening) {
      server.close();
      await once(server, "close");
    }
  }
}

function problemOf(code: string, { host, port, flag }: WantedPort): string {
  const another = `choose another one with ${flag} (0 takes any free one).`;
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} of ${host} is taken by another program: stop that, or ${another}`;
    case "EACCES":
      return `Port ${port} may not be used by this user: ${another}`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `${host} is no address of this machine: choose one with --host.`;
    default:
      return `Port ${port} of ${host} cannot be used (${code}): ${another}`;
  }
}
