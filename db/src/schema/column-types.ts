import { bigint, customType, timestamp } from "drizzle-orm/pg-core";

/** Raw bytes. */
export const bytea = customType<{ data: Uint8Array; driverData: Uint8Array }>({
  dataType: () => "bytea",
});

/** A bigint as a JavaScript number: no count, byte or sequence number of ours reaches 2^53. */
export const int8 = (name: string) => bigint(name, { mode: "number" });

/** A point in time, in UTC, to the microsecond. */
export const instant = (name: string) => timestamp(name, { withTimezone: true });
