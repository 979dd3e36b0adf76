/**
 * A separate process with a store on PostgreSQL: takes a run, prints that, and waits to be killed. argv: URL, schema.
 */
import { HOLDER, makeAccept, makeTake } from '../dispatches.ts';
import { openTestStore } from './store.ts';

const [url = '', schema = ''] = process.argv.slice(2);
const store = await openTestStore(url, schema);
await store.write(makeAccept('a'));
const { runs } = await store.write(makeTake(1000, { holder: HOLDER }));
process.stdout.write(`taken ${runs.length}\n`);
setInterval(() => {}, 1000);
