/** Tests the next steps for rejected requests. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PrintableRequest } from '../../../../modules/workbench/cli/requests/print-request.ts';
import { CAUSES, nextStep } from '../../../../modules/workbench/cli/requests/print-request.ts';
import { ROOT } from '../../../helpers/root.ts';

test('the docs list exactly the causes that can be printed', () => {
  const text = readFileSync(join(ROOT, 'docs/why-ignored.md'), 'utf8');
  const table = /^\| `cause` .*?\n\n/ms.exec(text)?.[0] ?? '';
  const documented = [...table.matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, code]) => code),
  );
  // `mismatch` is the reason whose cause is searched for.
  const printed = Object.keys(CAUSES).filter((code) => code !== 'mismatch');
  assert.deepEqual(documented.filter((code) => code !== 'cause').sort(), printed.sort());
});

test('the next step for a different secret names its place', () => {
  const refused = { route: 'gh', outcome: 'invalid_signature', cause: { code: 'unknown', certain: false, text: '' } };
  const step = (isSubscription: boolean) => nextStep({ ...refused, isSubscription } as PrintableRequest) ?? '';
  assert.match(step(false), /`secret`.*\bgh\b/);
  assert.doesNotMatch(step(false), /webhook show/);
  assert.match(step(true), /`hookwright webhook show gh --reveal`/);
});

test('the next step for a long batch names the placeholder of prompts', () => {
  const refused = {
    route: 'gh',
    outcome: 'payload_too_large',
    reason: 'batch_too_large',
    cause: null,
    dispatch_id: null,
  };
  assert.match(nextStep({ ...refused, isSubscription: false } as PrintableRequest) ?? '', /`\{batch\}`/);
});
