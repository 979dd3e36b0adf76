/** Each file that the pages for developers name is there. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../helpers/root.ts';

const ROOMS = ['base', 'schemas', 'compiler', 'runtime', 'cli', 'modules', 'main', 'test', 'scripts'];
const names = ROOMS.flatMap((room) =>
  readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' }).map((file) => join(room, file)),
);

for (const name of ['architecture', 'store', 'dependencies']) {
  test(`docs/${name}.md names only files that are there`, () => {
    const text = readFileSync(join(ROOT, `docs/${name}.md`), 'utf8');
    const named = [...text.matchAll(/`((?:[\w.-]+\/)*[\w-]+\.ts)`/g)].map(([, file = '']) => file);
    const missing = named.filter((file) => !names.some((each) => each === file || each.endsWith(`/${file}`)));
    assert.deepEqual([...new Set(missing)], []);
  });
}
