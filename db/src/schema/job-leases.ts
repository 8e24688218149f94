import { pgTable, text } from "drizzle-orm/pg-core";
import { instant, int8 } from "./column-types.ts";

/** Who runs a housekeeping job. The epoch grows with each change of holder and fences the one before. */
export const jobLeases = pgTable("job_leases", {
  name: text("name").primaryKey(),
  holder: text("holder").notNull(),
  epoch: int8("epoch").notNull(),
  leaseUntil: instant("lease_until").notNull(),
});
