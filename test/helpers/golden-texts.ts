/**
 * The printed texts of one test file, in one file beside it: wording is compared nowhere else. `UPDATE=1` rewrites it.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.ts';

const HEAD = '===== ';

function readTexts(file: string): Map<string, string> {
  const parts = existsSync(file)
    ? readFileSync(file, 'utf8')
        .split(new RegExp(`^${HEAD}`, 'm'))
        .slice(1)
    : [];
  return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n') + 1)]));
}

/** @param path of the golden file, below `test/` @returns a function that compares a text with the one of that name */
export function goldenTexts(path: string): (name: string, text: string) => void {
  const file = join(ROOT, 'test', path);
  const expected = process.env.UPDATE === '1' ? new Map<string, string>() : readTexts(file);
  return (name, text) => {
    const ended = text === '' || text.endsWith('\n') ? text : `${text}\n`;
    if (process.env.UPDATE === '1') {
      expected.set(name, ended);
      writeFileSync(file, [...expected].map(([title, each]) => `${HEAD}${title}\n${each}`).join(''));
    }
    assert.equal(ended, expected.get(name), `${path}: UPDATE=1 rewrites it`);
  };
}
