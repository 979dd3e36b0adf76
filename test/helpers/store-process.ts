/**
 * A store in a process of its own. `server <path>`: stores a dispatch for each line on stdin, and says so.
 * `command <path> <id>`: stores one dispatch beside whoever has the file open, closes and ends.
 */
import { createInterface } from 'node:readline';
import { openCommandStore, openServerStore } from '../../runtime/store/sqlite-store.ts';
import { makeAccept } from './dispatches.ts';
import { silentLog } from './log.ts';

const [role, path = '', id = ''] = process.argv.slice(2);

if (role === 'command') {
  const store = openCommandStore(path);
  await store.write(makeAccept(id));
  await store.close();
} else {
  const store = openServerStore({ path, durability: 'full', log: silentLog });
  for await (const line of createInterface({ input: process.stdin })) {
    const { kind } = await store.write(makeAccept(line));
    process.stdout.write(`${line} ${kind}\n`);
  }
}
