import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Where `pnpm --filter @millrace/ui dev` finds the API. */
const api = "http://127.0.0.1:1984";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "dist",
    emptyOutDir: true,
    // Inlined files would need `data:` sources, which the page's policy does not allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
  },
  worker: { format: "es" },
  server: { proxy: { "/api": { target: api } } },
});
