#!/usr/bin/env node
// `npx millrace …` from a checkout: sets up what is missing, then runs the command on the pinned runtime.
import { main } from "../../../scripts/bootstrap/main.mjs";

await main("cli", process.argv.slice(2));
