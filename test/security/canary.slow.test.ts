/**
 * Tests the whole output of a gateway that does everything, in a home with a secret of every kind: no output contains any of
 * them, in any form, except the listed ones.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempDir } from '../helpers/temp-dir.ts';
import type { SecretKind } from './canary/canaries.ts';
import { canary, KINDS, kindsIn } from './canary/canaries.ts';
import { takeTour } from './canary/tour.ts';

/** A literal of the configuration is a part of its table, which only its owner may read (decisions of the compiler). */
const ALLOWED: Readonly<Record<string, readonly SecretKind[]>> = {
  'file build/routes.json': ['route-literal', 'target-url'],
  // The copy of that table for the next start, only for the user of the gateway.
  'file served': ['route-literal', 'target-url'],
  // The gateway hides the secrets that it has read from other processes; it cannot know others.
  'parent of the agent': ['unreferenced-env'],
  'parent of the script': ['unreferenced-env'],
};

test('a canary is found in each of its forms', () => {
  for (const kind of KINDS) {
    const secret = canary(kind);
    const bytes = Buffer.from(`x${secret}yz`);
    const forms = [
      secret,
      encodeURIComponent(secret),
      bytes.toString('hex'),
      bytes.toString('base64'),
      JSON.stringify({ secret }),
    ];
    for (const form of forms) assert.deepEqual(kindsIn(`before ${form} after`), [kind], form);
  }
});

test('no output contains a secret of any kind', async (t) => {
  const outputs = await takeTour(t, tempDir(t));
  for (const [name, text] of outputs) {
    await t.test(name, () => {
      assert.ok(text !== '' || name.startsWith('file '), 'nothing came out');
      assert.deepEqual(
        kindsIn(text).filter((kind) => ALLOWED[name.replace(/(?<=^file served)\/.*/, '')]?.includes(kind) !== true),
        [],
      );
    });
  }
  await t.test('the tour was complete', () => {
    assert.match(outputs.get('log') ?? '', /"outcome":"invalid_signature"/);
    assert.match(outputs.get('environment of the agent') ?? '', /HOOKWRIGHT_ROUTE=/);
    assert.match(outputs.get('environment of the script') ?? '', /HOOKWRIGHT_ROUTE=env/);
    assert.match(outputs.get('answer of chat') ?? '', /502 .*Delivery failed/);
    for (const route of ['global', 'env', 'dotenv', 'literal', 'rotating', 'work', 'dynamic', 'pointed'])
      assert.match(outputs.get(`answer of ${route}`) ?? '', /202 \{"status":"accepted"/, route);
  });
});
