import { defineConfig } from "vitest/config";

const slow = { testTimeout: 120_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["{packages/*,db}/src/**/*.test.ts", "{packages/*,db}/src/**/*.prop.test.ts", "test/model/**/*.test.ts"],
          exclude: ["**/*.pg.test.ts", "**/*.nats.test.ts", "**/node_modules/**"],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: "services",
          include: ["{packages/*,db,test}/**/*.pg.test.ts", "{packages/*,test}/**/*.nats.test.ts"],
          exclude: ["**/node_modules/**"],
          globalSetup: ["test/services/global-setup.ts"],
          ...slow,
        },
      },
      { test: { name: "sim", include: ["test/sim/**/*.test.ts"], ...slow } },
      { test: { name: "tidy", include: ["test/tidy/**/*.test.ts"], ...slow } },
      {
        test: {
          name: "system",
          include: ["test/{golden,e2e,browser}/**/*.test.ts"],
          exclude: ["**/node_modules/**"],
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
