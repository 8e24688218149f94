import { runFakeBazel } from "../model/fake-bazel/fake-bazel.ts";
import { printingBuild } from "./payloads.ts";

/** Uploads many builds at once, each over a connection of its own; none goes on before all have been acked once. */
const { address, count } = JSON.parse(process.argv[2] ?? "{}") as { address: string; count: number };

let waiting = 0;
let open = (): void => {};
const allAreOpen = new Promise<void>((resolve) => {
  open = resolve;
});
const reports = await Promise.all(
  Array.from({ length: count }, (_, index) =>
    runFakeBazel({
      address,
      build: { payloads: printingBuild(`many-${index}`, 5) },
      buildId: `build-${index}`,
      invocationId: `many-${index}`,
      transport: "http2",
      beforeEvent: (sequence) => (sequence === 3 ? allAreOpen : undefined),
      onAck: (sequence) => {
        if (sequence !== 2) return;
        waiting += 1;
        if (waiting === count) open();
      },
    }),
  ),
);
const failed = reports.filter((report) => report.exitCode !== 0);
process.stdout.write(
  JSON.stringify({
    acked: reports.reduce((sum, report) => sum + report.acked, 0),
    failures: failed.map((report) => report.message).slice(0, 5),
  }),
);
process.exit(0);
