/** What to do next about a request that was refused. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CAUSES } from '../../../cli/requests/next-step.ts';
import { ROOT } from '../../helpers/root.ts';

test('the table of causes in the docs has each that can be printed, and no other', () => {
  const text = readFileSync(join(ROOT, 'docs/why-ignored.md'), 'utf8');
  const table = /^\| `cause` .*?\n\n/ms.exec(text)?.[0] ?? '';
  const documented = [...table.matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, code]) => code),
  );
  // A mismatch is what a cause is looked for.
  const printed = Object.keys(CAUSES).filter((code) => code !== 'mismatch');
  assert.deepEqual(documented.filter((code) => code !== 'cause').sort(), printed.sort());
});
