/** docs/troubleshooting.md names each symptom in the words that the program prints. Its commands are run with those of the other pages. */
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ghOutcome } from '../../modules/codehosts/runtime/github-comment.ts';
import { linkAddress } from '../../runtime/deliver/address.ts';
import type { DeliveryOutcome } from '../../runtime/deliver/deliverer.ts';
import { decideDelivery } from '../../runtime/dispatch/delivery-attempt.ts';
import { REASON_CODES } from '../../runtime/intake/reason-codes.ts';
import { startGateway, until } from '../helpers/gateway.ts';
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

const symptoms = (title: string): readonly string[] => rowsOf(title).map(([symptom = '']) => symptom);

/** Every symptom of the section is one of `printed`, and none of those is missing. */
function assertSame(title: string, printed: readonly string[]): void {
  const left = symptoms(title).filter((symptom) => !printed.some((text) => fits(symptom, text)));
  assert.deepEqual(left, [], `nothing prints these any more; printed is\n${printed.join('\n')}`);
  const unnamed = printed.filter((text) => !symptoms(title).some((symptom) => fits(symptom, text)));
  assert.deepEqual(unnamed, []);
}

function fits(symptom: string, text: string): boolean {
  const parts = symptom.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(text);
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
    await ask('open', { method: 'POST', headers: { ...json, 'content-encoding': 'gzip' }, body: '{}' }),
  ];
  const named = ['404, 403, 405', '400, 413, 415'].flatMap((title) => rowsOf(title).map((row) => row.slice(0, 2)));
  assert.deepEqual(answered, named);
});

test('what the log says of a 503', () => {
  // `shutting_down` is the outcome itself and not the reason of one.
  const reasons = symptoms('503').filter((reason) => reason !== 'shutting_down');
  assert.deepEqual(
    [...reasons, 'commit_in_doubt'].filter((reason) => !REASON_CODES.includes(reason)),
    [],
  );
});

test('why an agent did not run', async (t) => {
  const home = tempDir(t);
  const agent = join(home, 'agent.sh');
  writeFileSync(agent, '#!/bin/sh\nread -r word\ncase $word in fail) echo no login >&2; exit 3;; *) sleep 60;; esac\n');
  const config = `platforms:
  webhook:
    enabled: true
    secret: INSECURE_NO_AUTH
    routes: { ask: { prompt: "{word}" }, wait: { prompt: "{word}", agent: impatient } }
agent: { command: ["${agent}"] }
agents: { impatient: { command: ["${agent}"], timeout_seconds: 1 } }
`;
  const gateway = await startGateway(t, { home, config });
  const reasonOf = async (word: string, route = 'ask'): Promise<string> => {
    const headers = { 'content-type': 'application/json' };
    const sent = await sendAgain(`${gateway.url}/webhooks/${route}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ word }),
    });
    assert.equal(sent.status, 202);
    return until(async () => {
      const { stdout } = await gateway.cli('deliveries', 'list', '--json');
      const [newest] = JSON.parse(stdout) as readonly { readonly state: string; readonly reason: string | null }[];
      return newest?.state === 'dead' && newest.reason?.replace(/^run failed: /, '');
    });
  };
  const noPermission = await reasonOf('first');
  chmodSync(agent, 0o755);
  const printed = [noPermission, await reasonOf('fail'), await reasonOf('wait', 'wait')];
  assertSame('The agent did not run', ['my-agent cannot be started: ENOENT', ...printed]);
});

test('why an answer was not posted', () => {
  const telegram = readFileSync(join(ROOT, 'catalog/targets/telegram.yaml'), 'utf8');
  const policy = { max_attempts: 8, retry_ambiguous: false };
  const cut: DeliveryOutcome = {
    ...{ kind: 'ambiguous', reason: 'no answer', retry_after_ms: null },
    ...{ idempotent: false, attempted: true, sent: 0 },
  };
  const decided = [decideDelivery(cut, 1, policy, 0), decideDelivery({ ...cut, kind: 'retry' }, 8, policy, 0)];
  const refused = { kind: 'exit', code: 1, signal: null, stdout: Buffer.alloc(0), stderr: 'HTTP 401' } as const;
  const gh = [ghOutcome({ kind: 'spawn_failed', code: 'ENOENT', stderr: '' }), ghOutcome(refused)];
  assertSame('The answer was not posted', [
    ...[...gh, ...decided].map((each) => ('reason' in each ? each.reason : '')),
    ...[...telegram.matchAll(/reason: (the bot token was .*|there is no such chat.*)/g)].map(
      ([, reason = '']) => reason,
    ),
    String(linkAddress([], null)({ extra: {}, unresolved: ['chat_id'] })),
  ]);
});
