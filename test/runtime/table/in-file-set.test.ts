import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LogFields } from '../../../runtime/platform/log.ts';
import type { ListFile } from '../../../runtime/table/in-file-set.ts';
import { createListOpener, parseListFile } from '../../../runtime/table/in-file-set.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';

describe('parseList', () => {
  for (const [name, path, content, expected] of [
    ['lines, trimmed, without empty ones', 'u.txt', 'ann\r\n\n  bob \rcarl', ['ann', 'bob', 'carl']],
    ['a byte order mark is not content', 'u.txt', '\uFEFFann\n', ['ann']],
    ['a JSON array, whatever the name', 'u', ' [1, "a", {"x": null}] ', [1, 'a', { x: null }]],
    ['the keys of a JSON object', 'u.json', '{"ann": true, "7": 1}', ['7', 'ann']],
    ['text that only begins like JSON', 'u.txt', '[draft]\n{x}', ['[draft]', '{x}']],
    ['an empty file', 'u.txt', '\n', []],
  ] as const) {
    test(name, () => assert.deepEqual(parseListFile(path, content), expected));
  }

  test('a half-written .json file is an error', () =>
    assert.throws(() => parseListFile('u.json', '["ann", '), SyntaxError));
});

/** An in-memory file system that counts its calls. */
function world() {
  const contents = new Map<string, string>();
  const counts = { stat: 0, read: 0 };
  let version = 0;
  const versions = new Map<string, number>();
  const get = (path: string): string => {
    const content = contents.get(path);
    if (content === undefined) throw new Error('ENOENT');
    return content;
  };
  const warnings: LogFields[] = [];
  const quiet = () => {};
  const clock = new FakeClock();
  const open = createListOpener({
    home: '/home/ann/.hookwright',
    userHome: '/home/ann',
    clock,
    log: { debug: quiet, info: quiet, error: quiet, warn: (fields) => void warnings.push(fields) },
    files: {
      stat(path) {
        counts.stat++;
        const size = get(path).startsWith('huge') ? 2 ** 30 : get(path).length;
        return { mtimeMs: versions.get(path) ?? 0, ctimeMs: 0, size, ino: 1 };
      },
      async read(path) {
        counts.read++;
        if (get(path).startsWith('huge')) throw new Error('larger than 16777216 bytes');
        return get(path);
      },
    },
  });
  return {
    open,
    counts,
    warnings,
    write(path: string, content: string) {
      contents.set(path, content);
      versions.set(path, ++version);
      clock.advance(10);
    },
    remove(path: string) {
      contents.delete(path);
      clock.advance(10);
    },
    clock,
  };
}

const LIST = '/home/ann/.hookwright/users.txt';

/** Looks up values like the filters stage. */
async function has(list: ListFile, value: unknown): Promise<boolean> {
  await list.refresh();
  return list.has(value);
}

describe('a list', () => {
  test('is read once and again when its file changes', async () => {
    const { open, write, counts, clock } = world();
    write(LIST, 'ann');
    const list = open('users.txt');
    for (let i = 0; i < 10; i++) assert.ok(await has(list, 'ann'));
    assert.deepEqual(counts, { stat: 1, read: 1 });
    clock.advance(10);
    assert.ok(!(await has(list, 'bob')));
    assert.deepEqual(counts, { stat: 2, read: 1 });
    write(LIST, 'bob');
    assert.ok(await has(list, 'bob'));
    assert.ok(!(await has(list, 'ann')));
  });

  test('that is missing matches nothing, and is found once it appears', async () => {
    const { open, write, remove, warnings } = world();
    const list = open('users.txt');
    assert.ok(!(await has(list, 'ann')));
    assert.equal(warnings.length, 1);
    write(LIST, 'ann');
    assert.ok(await has(list, 'ann'));
    remove(LIST);
    assert.ok(!(await has(list, 'ann')));
    assert.equal(warnings.length, 2);
  });

  test('that is incomplete or too large keeps its last values and is logged once', async () => {
    const { open, write, warnings, clock } = world();
    const path = '/home/ann/.hookwright/users.json';
    write(path, '["ann"]');
    const list = open('users.json');
    assert.ok(await has(list, 'ann'));
    write(path, '["bob", ');
    assert.ok(await has(list, 'ann'));
    clock.advance(10);
    assert.ok(await has(list, 'ann'));
    assert.equal(warnings.length, 1);
    write(path, 'huge');
    assert.ok(await has(list, 'ann'));
    assert.equal(warnings.length, 2);
    write(path, '["bob"]');
    assert.ok(await has(list, 'bob'));
  });

  test('is one list for every spelling of its path', async () => {
    const { open, write } = world();
    write(LIST, 'ann');
    assert.equal(open('users.txt'), open('~/.hookwright/users.txt'));
    assert.equal(open('users.txt'), open(LIST));
    assert.equal(open('users.txt'), open('x/../users.txt'));
  });
});
