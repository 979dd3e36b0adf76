/** Every promise of docs/security.md names tests that exist, and no test of an attack is missing there. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ROOT } from '../helpers/root.ts';

const page = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');

/** The boundaries' sections by title. */
const boundaries = (page.split('\n## Trust boundaries\n')[1] ?? '')
  .split('\n## ')[0]
  ?.split('\n### ')
  .slice(1)
  .map((section) => [section.slice(0, section.indexOf('\n')), section] as const);

const namedIn = (text: string): readonly string[] =>
  [...text.matchAll(/`(test\/[^`]+\.ts)`/g)].map(([, path]) => path ?? '');

describe('docs/security.md', () => {
  it('names for each promise a test that exists', () => {
    assert.ok(boundaries !== undefined && boundaries.length >= 9);
    for (const [title, section] of boundaries) {
      const rows = section.split('\n').filter((line) => line.startsWith('| ') && !/^\| (promise|---)/.test(line));
      assert.notEqual(rows.length, 0, title);
      for (const row of rows) assert.notEqual(namedIn(row).length, 0, row);
    }
    assert.deepEqual(
      namedIn(page).filter((path) => !existsSync(join(ROOT, path))),
      [],
    );
  });

  it('names every test of test/security', () => {
    const files = readdirSync(join(ROOT, 'test/security')).filter((file) => file.endsWith('.test.ts'));
    const named = new Set(namedIn(page));
    assert.deepEqual(
      files.map((file) => `test/security/${file}`).filter((path) => !named.has(path)),
      [],
    );
  });
});
