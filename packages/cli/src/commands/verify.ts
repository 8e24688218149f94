import { systemClock } from "@millrace/base/clock";
import { errorText, MillraceError } from "@millrace/base/errors";
import { systemRandom } from "@millrace/base/random";
import { loadZstd } from "@millrace/base/zstd";
import { openBlobs } from "@millrace/blobs/open-blobs";
import { connect } from "@millrace/db/connect";
import { type Finding, findingText } from "@millrace/writer/verify/finding";
import { type Verification, verifyStorage } from "@millrace/writer/verify/verify-storage";
import { defineCommand } from "../command-line/command.ts";
import { switchFlag } from "../command-line/flag.ts";
import type { Terminal } from "../command-line/terminal.ts";
import { whereBlobs, whereDatabase, whereFlags } from "../whereabouts.ts";

/** As long a rest as the work before it took: half of a core and of a connection at most. */
const restFactor = 1;

/** Checks that what is stored is whole. */
export const verify = defineCommand({
  name: "verify",
  about: [
    "Checks what is stored, while Millrace runs or not: that the events of every attempt are there from the first " +
      "to the last acknowledged one, none missing and none twice; that its log is continuous and as long as it " +
      "should be; that ended builds have a final status and right totals; that no rows belong to nobody; that blobs and " +
      "archives are where rows say, and none are left behind; that past days were dropped.",
    "The exit code is 1 if anything is not as it must be. Nothing is changed.",
  ],
  flags: {
    deep: switchFlag("Also unpacks every segment and archive and compares and counts; takes its time."),
    fast: switchFlag("Takes no rests: done in half the time, and builds may notice."),
    json: switchFlag("Prints one object with all findings."),
    databaseUrl: whereFlags.databaseUrl,
    blobDir: whereFlags.blobDir,
    s3Endpoint: whereFlags.s3Endpoint,
    s3Bucket: whereFlags.s3Bucket,
    dataDir: whereFlags.dataDir,
  },
  examples: [{ line: "millrace verify --deep", does: "Everything, of the Millrace that runs here." }],
  run: async ({ flags, terminal, environment }) => {
    const database = connect({ url: whereDatabase(flags), max: 1, name: "millrace-verify" });
    const findings: Finding[] = [];
    try {
      const blobs = await openBlobs(whereBlobs(flags, environment), {
        random: systemRandom,
        clock: systemClock,
      });
      const storage = { sql: database.sql, blobs, zstd: await loadZstd() };
      const verification = await verifyStorage(storage, {
        deep: flags.deep,
        clock: systemClock,
        restFactor: flags.fast ? 0 : restFactor,
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
  const { attempts, segments, archives, notes } = verification;
  const unpacked = of.deep ? `, ${segments} segments and ${archives} archives unpacked` : "";
  const verdict = of.findings === 0 ? "all is whole" : `${of.findings} findings`;
  of.terminal.print(`${attempts} attempts checked${unpacked}: ${verdict}.`);
  if (notes.holes > 0) of.terminal.print(`Known holes, recorded when they were accepted: ${notes.holes}.`);
  if (notes.deadLetters > 0) {
    of.terminal.print(`Dead letters: ${notes.deadLetters}; the table dead_letters says why.`);
  }
}
