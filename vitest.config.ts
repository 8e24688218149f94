import { defineConfig } from "vitest/config";
import { mutantPlugin } from "./test/mutants/mutant-plugin.ts";

const slow = { testTimeout: 120_000, hookTimeout: 120_000 };

export default defineConfig({
  plugins: mutantPlugin(process.env["MILLRACE_MUTANT"]),
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          include: [
            "{packages/*,db}/src/**/*.test.ts",
            "{packages/*,db}/src/**/*.prop.test.ts",
            "test/model/**/*.test.ts",
            "bench/**/*.test.ts",
            "scripts/**/*.test.ts",
          ],
          exclude: ["**/*.pg.test.ts", "**/*.nats.test.ts", "**/node_modules/**"],
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: "services",
          include: ["{packages/*,db,test}/**/*.pg.test.ts", "{packages/*,test}/**/*.nats.test.ts"],
          exclude: ["**/node_modules/**"],
          globalSetup: ["test/services/global-setup.ts"],
          ...slow,
        },
      },
      { extends: true, test: { name: "sim", include: ["test/sim/**/*.test.ts"], ...slow } },
      {
        extends: true,
        test: {
          name: "mutants",
          include: ["test/mutants/**/*.test.ts"],
          fileParallelism: false,
          testTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: { name: "mcp", include: ["test/mcp/**/*.test.ts"], fileParallelism: false, ...slow },
      },
      { extends: true, test: { name: "tidy", include: ["test/tidy/**/*.test.ts"], ...slow } },
      {
        extends: true,
        test: {
          name: "system",
          include: ["test/{golden,e2e,browser,tools}/**/*.test.ts"],
          exclude: ["**/node_modules/**"],
          globalSetup: ["test/services/global-setup.ts"],
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
