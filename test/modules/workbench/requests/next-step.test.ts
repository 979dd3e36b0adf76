/** What to do next about a request that was refused. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { AskedRequest } from '../../../../modules/workbench/cli/requests/print-request.ts';
import { CAUSES, nextStep } from '../../../../modules/workbench/cli/requests/print-request.ts';
import { ROOT } from '../../../helpers/root.ts';

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

test('a secret that differs is looked for where the route has it', () => {
  const refused = { route: 'gh', outcome: 'invalid_signature', cause: { code: 'unknown', certain: false, text: '' } };
  const step = (isSubscription: boolean) => nextStep({ ...refused, isSubscription } as AskedRequest) ?? '';
  assert.match(step(false), /`secret`.*\bgh\b/);
  assert.doesNotMatch(step(false), /webhook show/);
  assert.match(step(true), /`hookwright webhook show gh --reveal`/);
});
