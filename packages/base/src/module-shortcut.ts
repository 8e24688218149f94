import { registerHooks } from "node:module";

/**
 * Loaded first (`node --import`, or before a dynamic import), this lets a process start 2 s of CPU time sooner: for every
 * module Node 22 to 26 reads the package.json above it anew, and that of drizzle-orm has 180 KB for its hundred modules
 * (1.6 s user and 0.9 s system time, against 0.2 and 0.1 with this). What such a module imports from beside itself is
 * found by its name alone, as Node would find it after reading.
 */
registerHooks({
  resolve: (specifier, context, next) => {
    const { parentURL, conditions } = context;
    const isBeside = specifier.startsWith(".") && specifier.endsWith(".js") && conditions.includes("import");
    if (!isBeside || parentURL?.includes("/node_modules/drizzle-orm/") !== true)
      return next(specifier, context);
    return { url: new URL(specifier, parentURL).href, format: "module", shortCircuit: true };
  },
});
