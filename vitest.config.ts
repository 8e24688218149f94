import { defineConfig } from "vitest/config";
import { mutantPlugin } from "./test/mutants/mutant-plugin.ts";

const slow = { testTimeout: 180_000, hookTimeout: 180_000 };
const ignored = ["**/node_modules/**"];

/** Groups run one after another: what starts whole systems does not share the machine with anything else. */
const inGroup = (groupOrder: number) => ({ sequence: { groupOrder } });

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
            "test/scrub/*.test.ts",
            "test/scrub/search/*.test.ts",
            "bench/**/*.test.ts",
            "scripts/**/*.test.ts",
          ],
          exclude: ["**/*.pg.test.ts", "**/*.nats.test.ts", "**/*.s3.test.ts", ...ignored],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          ...inGroup(0),
        },
      },
      {
        extends: true,
        test: {
          name: "tidy",
          include: ["test/tidy/**/*.test.ts"],
          fileParallelism: false,
          ...slow,
          ...inGroup(1),
        },
      },
      { extends: true, test: { name: "sim", include: ["test/sim/**/*.test.ts"], ...slow, ...inGroup(2) } },
      {
        extends: true,
        test: {
          name: "services",
          include: [
            "{packages/*,db,test}/**/*.pg.test.ts",
            "{packages/*,test}/**/*.nats.test.ts",
            "packages/*/src/**/*.s3.test.ts",
          ],
          exclude: ignored,
          globalSetup: ["test/services/global-setup.ts"],
          ...slow,
          ...inGroup(3),
        },
      },
      {
        extends: true,
        test: {
          name: "mutants",
          include: ["test/mutants/**/*.test.ts"],
          fileParallelism: false,
          testTimeout: 300_000,
          ...inGroup(4),
        },
      },
      {
        extends: true,
        test: {
          name: "mcp",
          include: ["test/mcp/**/*.test.ts"],
          fileParallelism: false,
          ...slow,
          ...inGroup(5),
        },
      },
      {
        extends: true,
        test: {
          name: "system",
          include: ["test/{golden,e2e,browser,tools}/**/*.test.ts", "test/scrub/system/*.test.ts"],
          exclude: ignored,
          globalSetup: ["test/services/global-setup.ts"],
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          ...inGroup(6),
        },
      },
    ],
  },
});
