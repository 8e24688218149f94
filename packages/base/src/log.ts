import { pino } from "pino";

/** The logger's surface as the rest of Millrace knows it: a message and flat fields. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  child(fields: LogFields): Log;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** JSON lines on standard output; `millrace up` turns them into readable ones. */
export function createLog(settings: { name: string; level: string }): Log {
  return wrap(pino({ name: settings.name, level: settings.level, base: { name: settings.name } }));
}

/** For tests and tools that want no output. */
export const silentLog: Log = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLog,
};

function wrap(logger: ReturnType<typeof pino>): Log {
  return {
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
    child: (fields) => wrap(logger.child(fields)),
  };
}
