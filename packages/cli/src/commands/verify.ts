import { systemClock } from "@millrace/base/clock";
import { errorText, MillraceError } from "@millrace/base/errors";
import { systemRandom } from "@millrace/base/random";
import { loadZstd } from "@millrace/base/zstd";
import { openDiskStore } from "@millrace/blobs/disk-store";
import { connect } from "@millrace/db/connect";
import { defineCommand } from "../command-line/command.ts";
import { switchFlag } from "../command-line/flag.ts";
import type { Terminal } from "../command-line/terminal.ts";
import { type Finding, findingText } from "../verify/finding.ts";
import { type Verification, verifyStorage } from "../verify/verify-storage.ts";
import { whereBlobs, whereDatabase, whereFlags } from "../whereabouts.ts";

/** Checks that what is stored is whole. */
export const verify = defineCommand({
  name: "verify",
  about: [
    "Checks what is stored, while Millrace runs or not: that the events of every attempt are there from the first " +
      "to the last acknowledged one, none missing and none twice; that its log is continuous and as long as it " +
      "should be; that ended builds have a final status and right totals; that no rows belong to nobody; that blobs " +
      "are where rows say.",
    "The exit code is 1 if anything is not as it must be. Nothing is changed.",
  ],
  flags: {
    deep: switchFlag("Also unpacks every segment and counts what is in it; takes its time."),
    json: switchFlag("Prints one object with all findings."),
    databaseUrl: whereFlags.databaseUrl,
    blobDir: whereFlags.blobDir,
    dataDir: whereFlags.dataDir,
  },
  examples: [{ line: "millrace verify --deep", does: "Everything, of the Millrace that runs here." }],
  run: async ({ flags, terminal }) => {
    const database = connect({ url: whereDatabase(flags), max: 1, name: "millrace-verify" });
    const findings: Finding[] = [];
    try {
      const blobs = await openDiskStore({
        directory: whereBlobs(flags),
        random: systemRandom,
        clock: systemClock,
      });
      const storage = { sql: database.sql, blobs, zstd: await loadZstd() };
      const verification = await verifyStorage(storage, {
        deep: flags.deep,
        onFinding: (finding) => {
          findings.push(finding);
          if (!flags.json) terminal.print(findingText(finding));
        },
      });
      if (flags.json) terminal.print(JSON.stringify({ ...verification, findings }));
      else tell(verification, { findings: findings.length, deep: flags.deep, terminal });
    } catch (error) {
      const message = `The check was not finished: ${errorText(error)}`;
      throw new MillraceError({ remedy: "retry", code: "verify", message });
    } finally {
      await database.close();
    }
    return findings.length === 0 ? 0 : 1;
  },
});

function tell(
  verification: Verification,
  of: { readonly findings: number; readonly deep: boolean; readonly terminal: Terminal },
): void {
  const { attempts, segments, notes } = verification;
  const unpacked = of.deep ? `, ${segments} segments unpacked` : "";
  const verdict = of.findings === 0 ? "all is whole" : `${of.findings} findings`;
  of.terminal.print(`${attempts} attempts checked${unpacked}: ${verdict}.`);
  if (notes.holes > 0) of.terminal.print(`Known holes, recorded when they were accepted: ${notes.holes}.`);
  if (notes.deadLetters > 0) {
    of.terminal.print(`Dead letters: ${notes.deadLetters}; the table dead_letters says why.`);
  }
}
