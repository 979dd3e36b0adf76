/**
 * A separate process with a store on PostgreSQL: takes a run, prints that, and ends the run on demand. Then it takes
 * due work, as its work loop would. argv: URL, schema.
 */
import { once } from 'node:events';
import { HOLDER, makeAccept, makeAdvance, makeTake } from '../dispatches.ts';
import { openTestStore } from './store.ts';

const [url = '', schema = ''] = process.argv.slice(2);
const store = await openTestStore(url, schema);
await store.write(makeAccept('a'));
const [run] = (await store.write(makeTake(1000, { holder: HOLDER }))).runs;
process.stdout.write(`taken ${run?.ref}\n`);
await once(process.stdin, 'data');
const ended = await store.write(makeAdvance(run?.ref ?? 0, 'done', 9000, { answer: 'late' })).catch(String);
const { runs } = await store.write(makeTake(9000));
process.stdout.write(`ended ${ended}, then took ${runs.length}\n`);
process.exit(0);
