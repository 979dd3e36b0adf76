import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import type { SourceCandidate } from '../../../../modules/workbench/cli/source.ts';
import { detect } from '../../../../modules/workbench/cli/source.ts';
import { captureOf } from '../../../../modules/workbench/cli/sources/read-capture.ts';
import { loadShippedSources } from '../../../helpers/catalog-sources.ts';
import { goldenTexts } from '../../../helpers/golden-texts.ts';
import { vectors } from '../../../helpers/vectors.ts';

const printed = goldenTexts('modules/workbench/causes/detect.txt');

const sources = loadShippedSources();
const NOW = 1_700_000_000_000;
const SECRET = 'the-secret';

interface DetectOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly secret?: string | null;
  readonly target?: string;
}

function run({ headers, body, secret = SECRET, target = 'https://example.test/r' }: DetectOptions): SourceCandidate[] {
  const capture = captureOf({ method: 'POST', target, headers: Object.entries(headers), body: Buffer.from(body) });
  return detect(sources.lowered, { capture, secret, url: null, now: NOW });
}

function candidate(given: DetectOptions, name: string): SourceCandidate {
  const found = run(given).find(({ source }) => source.name === name);
  assert.ok(found !== undefined, `${name} is not a candidate`);
  return found;
}

const hmac = (
  text: string,
  encoding: 'hex' | 'base64' = 'hex',
  algorithm = 'sha256',
  key: string | Buffer = SECRET,
): string => createHmac(algorithm, key).update(text).digest(encoding);
const hub = (text: string): Record<string, string> => ({ 'X-Hub-Signature-256': `sha256=${hmac(text)}` });
const BODY = '{"a": "naïve", "b": [1, 2]}';

test('recognises the source of every valid vector with its secret', () => {
  for (const vector of vectors.filter(({ valid }) => valid)) {
    const target = vector.url ?? 'https://example.test/r';
    const capture = captureOf({
      method: vector.method ?? 'POST',
      target,
      headers: Object.entries(vector.headers),
      body: Buffer.from(vector.body),
    });
    const url = vector.url?.split('?')[0] ?? null;
    const found = detect(sources.lowered, { capture, secret: vector.secret, url, now: (vector.now ?? 0) * 1000 });
    const own = found.find(({ source }) => source.name === sources.plan(vector.scheme).name);
    assert.deepEqual(own?.outcome, { kind: 'match', window: null }, `${vector.scheme}: ${vector.description}`);
    assert.equal(found[0]?.outcome.kind, 'match');
  }
});

test('of several matches, the one that fits the headers comes first', () => {
  const github = { ...hub(BODY), 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': 'd-1' };
  const [first] = run({ headers: github, body: BODY });
  assert.equal(first?.source.name, 'github');
  assert.deepEqual([first.event, first.delivery], ['push', 'd-1']);
});

test('an old request matches and is reported as too old', () => {
  const headers = { 'X-Webhook-Timestamp': '1600000000', 'X-Webhook-Signature-V2': hmac(`1600000000.${BODY}`) };
  assert.deepEqual(candidate({ headers, body: BODY }, 'generic-v2').outcome, {
    kind: 'match',
    window: 'stale_timestamp',
  });
});

test('without a secret, only the form is checked', () => {
  const fits = candidate({ headers: hub(BODY), body: BODY, secret: null }, 'github');
  assert.deepEqual(fits.outcome, { kind: 'unchecked', reason: null, window: null });
  const bad = candidate({ headers: { 'X-Hub-Signature-256': 'sha1=00' }, body: BODY, secret: null }, 'github');
  assert.deepEqual(bad.outcome, { kind: 'unchecked', reason: 'malformed_signature', window: null });
});

const form = new URLSearchParams({ payload: BODY }).toString();
const MISSES: readonly (readonly [what: string, given: DetectOptions, source: string])[] = [
  ['a trailing newline', { headers: hub(BODY), body: `${BODY}\n` }, 'github'],
  ['a lost trailing newline', { headers: hub(`${BODY}\r\n`), body: BODY }, 'github'],
  ['changed line breaks', { headers: hub('{\n}'), body: '{\r\n}' }, 'github'],
  ['JSON written again', { headers: hub(BODY), body: JSON.stringify(JSON.parse(BODY)) }, 'github'],
  ['escaped JSON', { headers: hub('{"a":"na\\u00efve"}'), body: '{"a":"naïve"}' }, 'github'],
  ['a signed form field', { headers: hub(BODY), body: form }, 'github'],
  ['a secret with a line break', { headers: hub(BODY), body: BODY, secret: `${SECRET}\n` }, 'github'],
  ['the wrong encoding', { headers: { 'X-Webhook-Signature': hmac(BODY, 'base64') }, body: BODY }, 'generic-v1'],
  ['a prefix too many', { headers: { 'X-Webhook-Signature': `sha256=${hmac(BODY)}` }, body: BODY }, 'generic-v1'],
  [
    'another hash function',
    { headers: { 'X-Webhook-Signature': hmac(BODY, 'hex', 'sha512') }, body: BODY },
    'generic-v1',
  ],
  [
    'the body alone signed',
    { headers: { 'X-Webhook-Timestamp': '1700000000', 'X-Webhook-Signature-V2': hmac(BODY) }, body: BODY },
    'generic-v2',
  ],
  ['a decoded secret', { headers: hub(BODY), body: BODY, secret: Buffer.from(SECRET).toString('base64') }, 'github'],
  [
    'another URL',
    { headers: { 'x-square-hmacsha256-signature': hmac(`http://example.test/r/${BODY}`, 'base64') }, body: BODY },
    'square',
  ],
];
for (const [what, given, name] of MISSES) {
  test(`explains an invalid signature: ${what}`, () => {
    const { outcome } = candidate(given, name);
    assert.equal(outcome.kind, 'refused');
    printed(what, (outcome.kind === 'refused' && outcome.near) || 'nothing');
  });
}

test('reports a wrong secret as such', () => {
  const { outcome } = candidate({ headers: hub(BODY), body: BODY, secret: 'another' }, 'github');
  assert.deepEqual(outcome, { kind: 'refused', reason: 'mismatch', near: null });
});

test('no explanation contains a computed signature', () => {
  const all = JSON.stringify(MISSES.map(([, given]) => run(given).map(({ outcome }) => outcome)));
  assert.doesNotMatch(all, /[0-9a-f]{16}|[A-Za-z0-9+/]{32}/);
});
