/** Sends the valid requests of every sender's vectors, and searches everything that is captured for credentials. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { SchemePlan } from '../../../../schemas/generated/types.ts';
import { keepVectors } from '../../../helpers/captured-vectors.ts';
import { credentialsOf } from '../../../helpers/credentials-of.ts';

test('captures no credential of any sender', async (t) => {
  const { sent, schemes, capture, list, log, path } = await keepVectors(t);
  const rows = await list({}, 1000);
  const captured = new Map<string, string>();
  for (const { id } of rows) {
    const found = await capture.requests.load(id);
    assert(found.kind === 'found');
    const body = Buffer.from(found.request.body ?? '', 'base64').toString('latin1');
    captured.set(found.request.route, `${JSON.stringify(found.request)}\n${body}`);
  }
  const verified = rows.filter((row) => row.verified);
  assert(verified.length >= sent.length * 0.95, `${verified.length} of ${sent.length} are signed as they should be`);
  const judged = new Set(verified.map(({ route }) => sent[Number(route.slice(1))]?.scheme));
  const missing = [...new Set(sent.map(({ scheme }) => scheme))].filter((scheme) => !judged.has(scheme));
  assert.deepEqual(missing, []);
  await capture.close();
  const file = ['', '-wal'].map((end) => (existsSync(path + end) ? readFileSync(path + end, 'latin1') : '')).join('');
  const said = JSON.stringify(log.lines);
  for (const [index, vector] of sent.entries()) {
    for (const credential of credentialsOf(vector, schemes.get(vector.scheme) as SchemePlan)) {
      const where = `${vector.scheme}: ${vector.description}`;
      assert(!(captured.get(`r${index}`) ?? '').includes(credential), `${where}: ${credential} is shown`);
      assert(!file.includes(Buffer.from(credential).toString('latin1')), `${where}: ${credential} is in the file`);
      assert(!said.includes(credential), `${where}: ${credential} is in the log`);
    }
  }
});
