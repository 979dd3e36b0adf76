/** The numbers of the overview: each is that of the list that it opens, right after an event, and that of the routes. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { minuteAt } from '../../../runtime/store/figures.ts';
import { startConsole } from '../../helpers/console.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { until } from '../../helpers/gateway.ts';
import { openOfflineStore } from '../../helpers/rescued-store.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;

const configWith = (messenger: string): string => `agent: { command: ["cat"], confined: a sample }
platforms:
  webhook:
    enabled: true
    routes:
      plain: { secret: INSECURE_NO_AUTH, filters: [{ field: x, not_equals: 0 }], prompt: "{x}", agent: none }
      direct: { secret: INSECURE_NO_AUTH, prompt: "{x}", deliver: telegram, deliver_extra: { chat_id: "-1" }, deliver_only: true }
      late: { secret: INSECURE_NO_AUTH, prompt: "{x}", coalesce: { key: "{x}", window_seconds: 60 } }
      signed: { secret: a-literal-secret-for-tests, prompt: "{x}" }
      run: { secret: INSECURE_NO_AUTH, prompt: "{x}" }
  telegram: { enabled: true, token: "1:a", api_base: "${messenger}" }
gateway: { console: { port: 0 }, drain_seconds: 0 }
`;

const OUTCOMES = ['accepted', 'ignored', 'duplicate', 'rejected', 'failed'] as const;
const SPANS = { hour: 60 * MINUTE_MS, day: DAY_MS, week: 7 * DAY_MS };

it('counts what the lists have, right after each event, and over the same minutes', async (t) => {
  const messenger = await startFakeHttp(t, () => (response) => response.end('{"ok":true,"result":{"message_id":1}}'));
  const { get, change, gateway } = await startConsole(t, configWith(messenger.url));
  const post = async (route: string, body: string, id = ''): Promise<number> => {
    const headers = { 'content-type': 'application/json', ...(id === '' ? {} : { 'x-request-id': id }) };
    return (await sendAgain(`${gateway.url}/webhooks/${route}`, { method: 'POST', body, headers })).status;
  };
  /** Counts all ranges, again if a new minute has begun. */
  const agree = async (): Promise<Readonly<Record<string, number>>> => {
    const begun = minuteAt(Date.now());
    const counts: Record<string, number> = {};
    for (const [span, ms] of Object.entries(SPANS)) {
      const { items, totals } = await get<'getFigures'>(`/api/figures?span=${span}`);
      for (const outcome of OUTCOMES) {
        const sum = items.reduce((sum, item) => sum + item[outcome], 0);
        assert.equal(totals[outcome], sum);
        const list = await get<'listRequests'>(`/api/requests?outcome=${outcome}&since=${begun - ms}&limit=200`);
        if (minuteAt(Date.now()) !== begun) return agree();
        assert.equal(sum, list.items.length, `${span} ${outcome}`);
        counts[outcome] = sum;
      }
    }
    return counts;
  };
  for (const x of [1, 2, 0]) await post('plain', JSON.stringify({ x }));
  await agree();
  for (const _ of [1, 2]) await post('plain', '{"x":3}', 'same');
  await post('direct', '{"x":4}');
  for (const _ of [1, 2]) await post('late', '{"x":5}');
  await post('signed', '{"x":6}');
  await post('plain', 'no json');
  assert.equal(await post('plane', '{}'), 404);
  await fetch(`${gateway.url}/robots.txt`);
  await agree();
  await change<'testRoute'>('/api/routes/plain/test', { payload: '{"x":7}' });
  const [first] = (await get<'listRequests'>('/api/requests?route=plain&outcome=accepted&limit=1')).items;
  assert.equal((await change<'replayRequest'>(`/api/requests/${first?.id}/replay`)).outcome, 'accepted');
  const { accepted = 0, ...others } = await agree();
  assert.deepEqual([accepted, others.ignored, others.duplicate, others.rejected], [8, 1, 1, 3]);

  const sumOfRoutes = async (): Promise<number> => {
    const { items } = await get<'listRoutes'>('/api/routes');
    return items.reduce((sum, { traffic }) => sum + traffic.events, 0);
  };
  assert.equal(await sumOfRoutes(), accepted);
  // A run that is replayed as a new delivery is a delivery of its route, but no request.
  await post('run', '{"x":8}');
  const done = () => get<'listDeliveries'>('/api/deliveries?state=done&route=run');
  const [run] = await until(async () => (await done()).items.length === 1 && (await done()).items);
  await change<'replayDeliveries'>('/api/deliveries/replay', { ids: [run?.id] });
  assert.equal(await sumOfRoutes(), ((await agree()).accepted ?? 0) + 1);
});

it('has the minutes of a range, whatever its spans of time', async (t) => {
  const home = tempDir(t);
  const store = await openOfflineStore(join(home, 'state.db'));
  const now = minuteAt(Date.now());
  const none = { ignored: 0, duplicate: 0, refused: 0, failed: 0, half_us: 0, most_us: 0, waiting: 0 };
  for (const [ago, taken] of [
    [1445, 100],
    [1435, 10],
    [1425, 1],
  ] as const)
    await store.write({ kind: 'add_figures', minute: now - ago * MINUTE_MS, figures: { ...none, taken } });
  await store.close();
  const { get } = await startConsole(t, configWith('http://127.0.0.1:9'), {}, home);
  for (const coarse of [false, true]) {
    const { items, totals, ...frame } = await get<'getFigures'>(`/api/figures?span=day&coarse=${coarse}`);
    const { from, to, slot_ms } = frame;
    assert.equal(totals.accepted, 11);
    assert.equal(slot_ms, (coarse ? 30 : 15) * MINUTE_MS);
    assert.ok(items.every(({ slot }) => slot >= from && slot + slot_ms <= to && (slot - from) % slot_ms === 0));
  }
});
