import { defineConfig } from "drizzle-kit";

/** `drizzle-kit generate` writes raw material for a migration into `out`; what is applied lies in `migrations/`. */
export default defineConfig({ dialect: "postgresql", schema: "./src/schema/*.ts", out: "./dist/generated" });
