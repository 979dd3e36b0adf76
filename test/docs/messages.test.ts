/** docs/messages.md names every line that the program can log. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { logCalls } from '../../scripts/docs/messages-page.ts';
import { ROOT } from '../helpers/root.ts';

/** The page says of them that they have words of their own. */
const OWN_WORDS = 'runtime/store/sqlite/sqlite-store.ts';

test('every call of the logger says something that is written at the call, and so on the page', () => {
  const calls = logCalls();
  const silent = calls.filter(({ lines }) => lines.length === 0).map(({ place }) => place);
  assert.deepEqual(silent, [OWN_WORDS, OWN_WORDS]);
  const page = readFileSync(join(ROOT, 'docs/messages.md'), 'utf8');
  const sectionOf = (level: string): string => page.split(`\n### ${level}\n`)[1]?.split('\n### ')[0] ?? '';
  const missing = calls
    .flatMap(({ lines }) => lines)
    .filter(({ level, message }) => !sectionOf(level).includes(`- ${message}`));
  assert.deepEqual(
    missing.filter(({ message }) => !/[<*|]/.test(message)),
    [],
  );
  for (const line of [
    'listening',
    'no agent is configured: prompts are answered with themselves',
    'delivery given up',
  ]) {
    assert.ok(page.includes(line), line);
  }
});
