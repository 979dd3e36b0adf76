/** What needs a person, with the action that helps: a replay only where it can succeed. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TestedConsole } from '../../helpers/console.ts';
import { startConsole } from '../../helpers/console.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { until } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';

const configWith = (messenger: string): string => `agent: { command: ["cat"], confined: a sample }
platforms:
  webhook:
    enabled: true
    routes:
      gone: { secret: INSECURE_NO_AUTH, prompt: "{x}", agent: none, deliver: telegram, deliver_extra: { chat_id: "-1" } }
      busy: { secret: INSECURE_NO_AUTH, prompt: "{x}", agent: none, deliver: telegram, deliver_extra: { chat_id: "-2" } }
      asked: { secret: INSECURE_NO_AUTH, prompt: "{x}", agent: none, deliver: telegram, deliver_extra: { chat_id: "-3" }, approve: true }
      both: { secret: INSECURE_NO_AUTH, prompt: "{x}", agent: none, deliver: [telegram, log], deliver_extra: { chat_id: "-4" }, approve: true }
  telegram: { enabled: true, token: "1:a", api_base: "${messenger}" }
gateway: { console: { port: 0, token: token-of-the-operators }, drain_seconds: 0, approvals: { deliver: log }, max_attempts: 1 }
`;

const needsOf = async ({ get }: TestedConsole) => (await get<'getOverview'>('/api/overview')).needs;

it('says what is dead, waits and is paused, and offers a replay only where the target may accept it', async (t) => {
  const messenger = await startFakeHttp(t, ({ body }) =>
    /chat_id\W+-2\b/.test(body) ? { status: 503, body: { ok: false } } : { status: 400, body: { ok: false } },
  );
  const console = await startConsole(t, configWith(messenger.url), { authorization: 'Bearer token-of-the-operators' });
  const { get, change, gateway } = console;
  const post = async (route: string, id: string): Promise<void> => {
    const headers = { 'content-type': 'application/json', 'x-request-id': id };
    const body = '{"event_type":"alert.raised","x":"first line"}';
    const { status } = await sendAgain(`${gateway.url}/webhooks/${route}`, { method: 'POST', body, headers });
    assert.equal(status, 202);
  };
  const dead = async (count: number): Promise<unknown> =>
    until(async () => (await get<'listDeliveries'>('/api/deliveries?state=dead')).items.length === count);
  assert.deepEqual(await needsOf(console), []);

  await post('gone', 'gone-1');
  await post('busy', 'busy-1');
  await dead(2);
  const [busy, gone] = await needsOf(console);
  assert.deepEqual([busy?.route, busy?.action, gone?.route, gone?.action], ['busy', 'replay', 'gone', 'review']);
  const [{ id } = assert.fail()] = (await get<'listDeliveries'>('/api/deliveries?route=gone')).items;
  assert.deepEqual([gone?.name, gone?.place, gone?.urgent], ['alert.raised gone-1', `deliveries/${id}`, true]);
  assert.match(gone?.reason ?? '', /400/);

  await post('gone', 'gone-2');
  await dead(3);
  const several = (await needsOf(console)).find(({ route }) => route === 'gone');
  assert.deepEqual(
    [several?.count, several?.place, several?.action],
    [2, 'deliveries?state=dead&route=gone', 'review'],
  );

  await post('asked', 'asked-1');
  const waiting = await until(async () => (await needsOf(console)).find(({ kind }) => kind === 'approval'));
  const [approval] = (await get<'listApprovals'>('/api/approvals')).items;
  assert.deepEqual([waiting.place, waiting.reason], [`approvals/${approval?.id}`, 'first line']);
  assert.equal(waiting.until, approval?.expires_at);
  await post('asked', 'asked-2');
  await until(async () => (await needsOf(console)).find(({ kind, count }) => kind === 'approval' && count === 2));
  // Each message counts, as in the list.
  await post('both', 'both-1');
  await until(async () => (await needsOf(console)).find(({ kind, count }) => kind === 'approval' && count === 4));
  assert.equal((await get<'listApprovals'>('/api/approvals')).items.length, 4);

  const { until: end } = await change<'pauseRoute'>('/api/routes/gone/pause', { seconds: 3600 });
  const paused = (await needsOf(console)).find(({ kind }) => kind === 'paused');
  assert.deepEqual([paused?.name, paused?.until, paused?.action], ['gone', end, 'resume']);
});
