import { execFileSync } from "node:child_process";
import { chown, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import { connect } from "@millrace/db/connect";
import { writerBench } from "@millrace/writer/database.fixture";
import { runGroupCommit } from "@millrace/writer/group-commit";
import { Inbox } from "@millrace/writer/inbox";
import type { Reply } from "@millrace/writer/work";
import { batchWork } from "@millrace/writer/works.fixture";
import { expect, inject, test } from "vitest";

/** Whether a small file system can be mounted here, which only root can. */
async function smallDisk(): Promise<{ directory: string; remove(): Promise<void> } | undefined> {
  const directory = await mkdtemp(join(tmpdir(), "millrace-small-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=3m,mode=0700", "tmpfs", directory], {
      stdio: "ignore",
    });
  } catch {
    await rm(directory, { recursive: true });
    return undefined;
  }
  const remove = async (): Promise<void> => {
    execFileSync("umount", ["-l", directory]);
    await rm(directory, { recursive: true, force: true });
  };
  return { directory, remove };
}

const disk = await smallDisk();

test.skipIf(disk === undefined)(
  "with a full disk nothing is acked, it is told, and all is committed once there is room",
  async () => {
    if (disk === undefined) return;
    const admin = connect({ url: inject("postgresUrl"), max: 1, name: "disk-full" });
    const bench = await writerBench();
    try {
      const [data] = await admin.sql.unsafe("select current_setting('data_directory') as directory");
      const owner = await stat(String(data?.directory));
      await chown(disk.directory, owner.uid, owner.gid);
      await admin.sql.unsafe(`create tablespace small location '${disk.directory}'`);
      await bench.one("create table filler (bytes bytea) tablespace small");
      await bench.one("alter table filler alter column bytes set storage external");
      const [today] = await bench.all("select to_char((now() at time zone 'utc')::date, 'YYYYMMDD') as day");
      await bench.one(`alter table event_segments_${today?.day} set tablespace small`);
      await bench.one("insert into filler select convert_to(repeat('x', 2000000), 'utf8')");

      const told: string[] = [];
      const log = {
        ...silentLog,
        warn: (_: string, fields?: object) => void told.push(JSON.stringify(fields)),
      };
      const sizes = { inboxBytesMax: 64 << 20, groupBytesMax: 8 << 20, groupBatchesMax: 200 };
      const inbox = new Inbox(sizes, systemClock);
      const committing = runGroupCommit(inbox, { ...bench.newContext(), log });
      const replies: Reply[] = [];
      const events = Buffer.alloc(900_000, 7);
      for (const invocation of ["one", "other"]) {
        inbox.offer(
          batchWork({ invocation, first: 1, last: 9, events }),
          (reply) => void replies.push(reply),
        );
      }
      await expect.poll(() => told.length, { timeout: 60_000 }).toBeGreaterThan(2);
      for (const line of told) expect(line).toContain("No space left on device");
      expect(replies.length).toBeLessThan(2);
      await bench.one("drop table filler");
      await expect.poll(() => replies.length, { timeout: 60_000 }).toBe(2);
      expect(replies).toMatchObject([{ committed: { lastSequence: 9 } }, { committed: { lastSequence: 9 } }]);
      inbox.drain();
      await committing;
      expect(await bench.all("select last_seq from event_segments")).toEqual([
        { last_seq: 9 },
        { last_seq: 9 },
      ]);
    } finally {
      await bench[Symbol.asyncDispose]();
      await admin.sql.unsafe("drop tablespace if exists small");
      await admin.close();
      await disk.remove();
    }
  },
);
