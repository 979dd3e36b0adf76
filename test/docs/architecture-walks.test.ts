/** docs/architecture.md: each file name in the tables of its two walks is a file, and none comes twice; each file that the pages name is there. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../helpers/root.ts';

const WALKS = ['A request body, from socket to store', 'A node of YAML, from text to table'];
const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');

/** The paths of a walk; a name without a folder is in the folder of the path before it. */
function pathsOf(walk: string): readonly string[] {
  const section = page.split(`## ${walk}\n`)[1]?.split(/^##/m)[0] ?? '';
  const cells = [...section.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = '']) => cell);
  const paths: string[] = [];
  for (const [, name = ''] of cells.join().matchAll(/`([^`]+)`/g)) {
    paths.push(name.includes('/') ? name : join(dirname(paths.at(-1) ?? ''), name));
  }
  return paths;
}

for (const walk of WALKS) {
  test(walk, () => {
    const paths = pathsOf(walk);
    assert.ok(paths.length > 10);
    assert.deepEqual(
      paths.filter((path) => !existsSync(join(ROOT, path))),
      [],
    );
    assert.equal(new Set(paths).size, paths.length);
  });
}

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
