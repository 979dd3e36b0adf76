/**
 * A store in a separate process. `server <path>`: stores a dispatch for each line on stdin, and prints that. `command
 * <path> <id>`: opens the store as a command does, stores a dispatch and a job, closes and ends.
 */
import { createInterface } from 'node:readline';
import { makeAccept } from './dispatches.ts';
import { makeJob } from './jobs.ts';
import { silentLog } from './log.ts';
import { openOfflineStore, openServerStore } from './rescued-store.ts';

const [role, path = '', id = ''] = process.argv.slice(2);

if (role === 'command') {
  const store = await openOfflineStore(path);
  await store.write(makeAccept(id));
  const job = { ...makeJob(id), name: 'tidy' };
  const put = await store.write({ kind: 'put_job', job, expect: 'new', numbered_beside: [] });
  await store.close();
  process.stdout.write(`${put.kind === 'stored' ? put.name : put.kind}\n`);
} else {
  const store = await openServerStore({ path, durability: 'full', log: silentLog });
  process.stdout.write('open\n');
  for await (const line of createInterface({ input: process.stdin })) {
    const { kind } = await store.write(makeAccept(line));
    process.stdout.write(`${line} ${kind}\n`);
  }
}
