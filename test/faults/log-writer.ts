/**
 * A process that is killed while it writes a store. Its log restarts all the time, connections are replaced as after a
 * failed sync or the death of a thread, and it starts over as after a stop. Prints the id of each stored event.
 */
import { writeSync } from 'node:fs';
import { sqliteRescue } from '../../modules/rescue/runtime/rescue.ts';
import type { CommitResult } from '../../runtime/store/group-commit.ts';
import { encodeChange } from '../../runtime/store/group-commit.ts';
import type { Connect } from '../../runtime/store/sqlite/driver.ts';
import { connect } from '../../runtime/store/sqlite/driver.ts';
import { Reader } from '../../runtime/store/sqlite/read.ts';
import { Writer } from '../../runtime/store/sqlite/writer.ts';
import { makeAccept } from '../helpers/dispatches.ts';

const [path = ''] = process.argv.slice(2);
const chance = (share: number): boolean => Math.random() < share;

let isFailing = false;
/** A sync that fails once: the previous commit is overwritten over another connection. */
const failing: Connect = (...args) => {
  const db = connect(...args);
  return {
    ...db,
    get inTransaction() {
      return db.inTransaction;
    },
    exec(sql) {
      db.exec(sql);
      if (sql !== 'COMMIT' || !isFailing) return;
      isFailing = false;
      throw Object.assign(new Error('by request'), { code: 'SQLITE_IOERR_FSYNC' });
    },
  };
};

async function store(writer: Writer, id: string): Promise<boolean> {
  const changes = [encodeChange(makeAccept(id))];
  const answer = (await writer.serve({ kind: 'commit', changes })) as string;
  const { results } = JSON.parse(answer) as { readonly results: readonly CommitResult[] };
  return results[0]?.kind === 'ok';
}

/** Their connections stay open, as those of a thread that has just died. */
const abandoned: Writer[] = [];
for (let life = 0; ; life++) {
  let writer = new Writer({ path, durability: 'full', connect: failing, rescue: sqliteRescue });
  await writer.serve({ kind: 'prepare', now: Date.now() });
  const reader = new Reader({ path, rescue: sqliteRescue });
  if (life === 0) writeSync(1, 'ready\n');
  for (let n = 0; n < 60 || chance(0.9); n++) {
    isFailing = chance(0.1);
    const id = `${process.pid}-${life}-${n}`;
    if (await store(writer, id)) writeSync(1, `${id}\n`);
    if (chance(0.5)) reader.serve({ kind: 'checkpoint' });
    if (!chance(0.05)) continue;
    abandoned.push(writer);
    writer = new Writer({ path, durability: 'full', connect: failing, rescue: sqliteRescue });
  }
  reader.serve({ kind: 'close' });
  await writer.serve({ kind: 'close' });
}
