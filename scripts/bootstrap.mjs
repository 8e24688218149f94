// Entry of `npm start` and `npm test`. It must parse on any Node that has ES modules, so that an old one gets
// a sentence instead of a syntax error; everything newer is behind the dynamic import.
const floor = 20;

if (Number(process.versions.node.split(".")[0]) < floor) {
  console.error(`Millrace needs Node.js ${floor} or newer to start; this is ${process.version}.`);
  process.exit(1);
} else {
  const [command = "start", ...args] = process.argv.slice(2);
  import("./bootstrap/main.mjs").then((bootstrap) => bootstrap.main(command, args));
}
