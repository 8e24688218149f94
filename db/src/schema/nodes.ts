import { pgTable, text } from "drizzle-orm/pg-core";
import { instant } from "./column-types.ts";

/** Front doors. While a lease lasts, none of the node's open streams is swept. */
export const nodes = pgTable("nodes", {
  id: text("id").primaryKey(),
  leaseUntil: instant("lease_until").notNull(),
});
