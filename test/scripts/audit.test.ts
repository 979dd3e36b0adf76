/** Tests that CI fails for findings of the registry, but not for an unavailable registry. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readAudit, readSignatures } from '../../scripts/audit/read-answers.ts';
import { ROOT } from '../helpers/root.ts';

const audit = (faults: Readonly<Record<string, string>>): string =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: Object.fromEntries(Object.entries(faults).map(([name, severity]) => [name, { name, severity }])),
  });

test('a vulnerability of severity high or critical is a finding; a lesser one is only reported', () => {
  assert.deepEqual(readAudit(audit({})), { kind: 'fine', lines: [] });
  assert.deepEqual(readAudit(audit({ a: 'moderate' })), { kind: 'fine', lines: ['a: moderate'] });
  assert.equal(readAudit(audit({ a: 'low', b: 'high' })).kind, 'found');
  assert.equal(readAudit(audit({ a: 'critical' })).kind, 'found');
});

test('an invalid signature is a finding; a missing one is only reported', () => {
  const one = { name: 'a', version: '1.0.0' };
  assert.deepEqual(readSignatures('{"invalid":[],"missing":[]}'), { kind: 'fine', lines: [] });
  assert.deepEqual(readSignatures(JSON.stringify({ invalid: [], missing: [one] })), {
    kind: 'fine',
    lines: ['a@1.0.0: none'],
  });
  assert.deepEqual(readSignatures(JSON.stringify({ invalid: [one], missing: [] })), {
    kind: 'found',
    lines: ['a@1.0.0: wrong'],
  });
});

test('an unavailable registry is not a finding', () => {
  const refused = '{"message":"405 Method Not Allowed","statusCode":405,"error":{"summary":"","detail":""}}';
  const away = '{"error":{"code":"ENOTFOUND","summary":"request failed","detail":"no network"}}';
  for (const text of ['', 'npm error', 'null', '[]', '{}', refused, away])
    for (const read of [readAudit, readSignatures]) assert.equal(read(text).kind, 'unknown', text);
  assert.deepEqual(readAudit(refused).lines, ['405 Method Not Allowed']);
  assert.deepEqual(readSignatures(away).lines, ['ENOTFOUND']);
});

test('CI installs the packages of the lock file and audits them', () => {
  const script = readFileSync(join(ROOT, '.ci/run'), 'utf8');
  assert.match(script, /^npm ci$/m);
  assert.match(script, /^npm run audit$/m);
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { readonly integrity?: string; readonly link?: boolean }>>;
  };
  const unpinned = Object.entries(lock.packages).filter(
    ([path, { integrity }]) => path !== '' && integrity === undefined,
  );
  assert.deepEqual(
    unpinned.map(([path]) => path),
    [],
  );
});
