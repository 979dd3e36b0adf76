/** Limits below what a sender that never retries may send are noted by `lint`, and are no problem. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
const FAST = 'rate_limit: 300';
const LARGE = 'max_body_bytes: 26214400';

const route = (source: string, more = ''): string =>
  `      ${source}: { source: ${source}, secret: "env:SECRET", prompt: x, deliver: log${more} }\n`;

const CASES: readonly (readonly [string, string, string, readonly RegExp[]])[] = [
  [
    'the defaults',
    '',
    route('github'),
    [/^note: `github` .* forty .*`rate_limit: 300`.*`github`.*`max_body_bytes: 26214400`/],
  ],
  ['its own spelling', LARGE, route('forgea'), [/^note: `forgea` .*`rate_limit: 300`/]],
  ['a large body only', LARGE, route('github'), [/^note: (?!.*max_body_bytes).*rate_limit/]],
  ['a high limit for all', FAST, route('github'), [/^note: (?!.*rate_limit).*max_body_bytes/]],
  ['a high limit of the route', LARGE, route('github', `, ${FAST}`), []],
  ['a low limit of the route', `${FAST}, ${LARGE}`, route('github', ', rate_limit: 299'), [/`github`/]],
  ['both', `${FAST}, ${LARGE}`, route('github') + route('gitlab'), []],
  ['two senders', LARGE, route('github') + route('gitlab'), [/^note: `github`/, /^note: `gitlab`/]],
  ['a sender whose largest body is unknown', '', route('gitea'), [/^note: `gitea` (?!.*max_body_bytes)/]],
  ['a sender that retries', '', route('stripe'), []],
  ['no source', '', '      plain: { secret: "env:SECRET", prompt: x, deliver: log }\n', []],
];

for (const [name, settings, routes, wanted] of CASES)
  test(`with ${name}`, async (t) => {
    const home = tempDir(t);
    const server = settings.replace(', ', '\n    ');
    const text = `platforms:\n  webhook:\n    enabled: true\n    ${server}\n    routes:\n${routes}`;
    writeFileSync(join(home, 'config.yaml'), text, { mode: 0o600 });
    const env = { SECRET };
    const { code, stdout, stderr } = await runInProcess(['lint', '--strict'], { home, env });
    const notes = stderr
      .replaceAll('\n      ', ' ')
      .split('\n')
      .filter((line) => line.startsWith('note: '));
    assert.equal(notes.length, wanted.length, stdout + stderr);
    for (const [index, pattern] of wanted.entries()) assert.match(notes[index] ?? '', pattern);
    assert.equal(code, 0, stdout);
    assert.match(stderr, /^no problems$/m);
  });

test('many routes are counted', async (t) => {
  const home = tempDir(t);
  const routes = Array.from({ length: 6 }, (_, n) => route('github').replace('github:', `r${n}:`)).join('');
  const text = `platforms:\n  webhook:\n    enabled: true\n    routes:\n${routes}`;
  writeFileSync(join(home, 'config.yaml'), text, { mode: 0o600 });
  const { stderr } = await runInProcess(['lint'], { home, env: { SECRET } });
  assert.match(stderr, /^note: .*\n.* 6 routes/m);
});
