import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../../helpers/cli.ts';
import { goldenTexts } from '../../../helpers/golden-texts.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const printed = goldenTexts('modules/payloads/sources/source.txt');

const SECRET = 'the-secret-of-this-test';
const BODY = '{"ref":"main"}';
const SIGNATURE = createHmac('sha256', SECRET).update(BODY).digest('hex');
const REQUEST = `POST /webhooks/r HTTP/1.1
Host: example.test
X-GitHub-Event: push
X-GitHub-Delivery: 72d3162e
X-Hub-Signature-256: sha256=${SIGNATURE}

${BODY}`;
const OWN =
  'title: My shop\naliases: [shop]\nverify: hmac-sha256\nsignature: { header: X-Shop-Signature }\nsigned: "{body}"\n';

test('source list prints all sources, filtered by a word, including custom sources', async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, 'catalog/sources'), { recursive: true });
  writeFileSync(join(home, 'catalog/sources/my-shop.yaml'), OWN);
  writeFileSync(join(home, 'catalog/sources/broken.yaml'), 'title: [');
  writeFileSync(
    join(home, 'hookwright.yaml'),
    'sources:\n  my-bank: { verify: token, signature: { header: X-Bank } }\n',
  );
  const all = await runInProcess(['source', 'list', '--json'], { home });
  const listed = JSON.parse(all.stdout) as { readonly name: string; readonly own: boolean }[];
  assert.ok(listed.length > 70);
  assert.deepEqual(
    listed.filter(({ own }) => own).map(({ name }) => name),
    ['my-bank', 'my-shop'],
  );
  assert.match(all.stderr, /broken\.yaml/);
  const some = await runInProcess(['source', 'list', 'shop'], { home });
  assert.match(some.stdout, /^.*\nmy-shop +My shop +HMAC-SHA256.*\nshopify /);
});

test('source show prints the signature, the set-up steps and a route to copy', async (t) => {
  const home = tempDir(t);
  const { stdout, code } = await runInProcess(['source', 'show', 'github'], { home });
  assert.equal(code, 0);
  printed('github', stdout);
  assert.ok(stdout.split('\n').every((line) => line.length <= 80 || line.startsWith('Docs:')));
  // The steps come last, where a terminal shows them; the list of events would hide them.
  const events = (await runInProcess(['source', 'show', 'github', '--events'], { home })).stdout;
  assert.match(events, /^ {2}branch_/m);
  const config =
    '{ public_url: "https://h.example", platforms: { webhook: { secret: "env:S", routes: { ci: { source: github } } } } }\n';
  writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
  const own = await runInProcess(['source', 'show', 'github'], { home, env: { S: '51c7a0f2d98e4b36a1' } });
  assert.match(own.stdout, /`https:\/\/h\.example\/webhooks\/ci`/);
  const json = await runInProcess(['source', 'show', 'stripe', '--json'], { home });
  assert.match(json.stdout, /"tolerance": 300/);
  const wrong = await runInProcess(['source', 'show', 'stirpe'], { home });
  assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
  assert.match(wrong.stderr, /"stirpe"\n.*\bstripe\b/);
});

test('source detect names the sender of a saved request and the configuration', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'request.http'), REQUEST);
  writeFileSync(join(home, 'secret.txt'), `${SECRET}\n`);
  const found = await runInProcess(['source', 'detect', 'request.http', '--secret', 'file:secret.txt'], { home });
  assert.equal(found.code, 0, found.stderr);
  assert.match(found.stdout, /^github +/);
  assert.match(found.stderr, /source: github\b.*\bpush\b.*72d3162e/);
  const form = await runInProcess(['source', 'detect'], { home, stdin: REQUEST });
  assert.equal(form.code, 0);
  assert.match(form.stdout, /^github .*--secret/);
});

test('source detect explains an invalid signature, exits 1 and prints no computed signature', async (t) => {
  const home = tempDir(t);
  const argv = ['source', 'detect', '--secret', SECRET, '--source', 'github'];
  const wrong = await runInProcess(argv, { home, stdin: REQUEST.replace('main', 'other') });
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, /^github .*\n$/);
  const right = createHmac('sha256', SECRET).update(BODY.replace('main', 'other')).digest('hex');
  assert.ok(!(wrong.stdout + wrong.stderr).includes(right));
  const near = await runInProcess(argv, { home, stdin: `${REQUEST}\n` });
  printed('a body with a line break more', near.stdout);
});

test('source detect rejects input that is not a request, a missing secret and an unknown source', async (t) => {
  const home = tempDir(t);
  const cases: readonly (readonly [string[], string, RegExp])[] = [
    [['source', 'detect'], 'hello', /^error: /],
    [['source', 'detect', '--secret', 'env:NOT_SET'], REQUEST, /env:NOT_SET/],
    [['source', 'detect', '--source', 'unknown'], REQUEST, /"unknown"/],
    [['source', 'detect', 'nowhere.http'], '', /nowhere\.http/],
  ];
  for (const [argv, stdin, expected] of cases) {
    const { code, stdout, stderr } = await runInProcess(argv, { home, stdin });
    assert.deepEqual([code, stdout], [1, ''], argv.join(' '));
    assert.match(stderr, expected);
  }
});
