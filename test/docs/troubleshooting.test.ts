/** The status and reason codes of docs/troubleshooting.md are those of the program. Its commands are run with those of the other pages. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { REASON_CODES } from '../../runtime/intake/reason-codes.ts';
import { startGateway } from '../helpers/gateway.ts';
import { ROOT } from '../helpers/root.ts';
import { sendAgain } from '../helpers/send-again.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const page = readFileSync(join(ROOT, 'docs/troubleshooting.md'), 'utf8');

/** The rows of the table in a section, without its header. */
function rowsOf(title: string): readonly (readonly string[])[] {
  const [, section = ''] = page.split(`\n## ${title}\n`);
  const lines = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  const cells = lines.map((line) => line.split('|').map((cell) => cell.trim().replace(/^`|`$/g, '')));
  return cells.slice(2).map((row) => row.slice(1));
}

test('the answers to a sender: status and code', async (t) => {
  const config = `platforms:
  webhook:
    enabled: true
    secret: INSECURE_NO_AUTH
    max_body_bytes: 1024
    routes: { open: { prompt: hello }, off: { prompt: hello, enabled: false } }
`;
  const { url } = await startGateway(t, { home: tempDir(t), config });
  const ask = async (path: string, init: RequestInit): Promise<readonly string[]> => {
    const answer = await sendAgain(`${url}/webhooks/${path}`, init);
    const { code } = (await answer.json()) as { readonly code: string };
    return [String(answer.status), code];
  };
  const json = { 'content-type': 'application/json' };
  const answered = [
    await ask('nowhere', { method: 'POST' }),
    await ask('off', { method: 'POST' }),
    await ask('open', { method: 'POST', headers: { ...json, origin: 'https://example.com' }, body: '{}' }),
    await ask('open', { method: 'GET' }),
    await ask('open', { method: 'POST', headers: json, body: 'no JSON' }),
    await ask('open', { method: 'POST', headers: json, body: JSON.stringify('a'.repeat(2000)) }),
    await ask('open', { method: 'POST', headers: { ...json, 'content-encoding': 'zstd' }, body: '{}' }),
  ];
  const named = ['404, 403, 405', '400, 413, 415'].flatMap((title) => rowsOf(title).map((row) => row.slice(0, 2)));
  assert.deepEqual(answered, named);
});

test('what the log says of a 503', () => {
  // `shutting_down` is the outcome itself and not the reason of one.
  const reasons = rowsOf('503').flatMap(([reason = '']) => (reason === 'shutting_down' ? [] : [reason]));
  assert.deepEqual(
    reasons.filter((reason) => !REASON_CODES.includes(reason)),
    [],
  );
});
