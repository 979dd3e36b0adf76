import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { updateSubscriptions } from '../../../cli/subscriptions/subscription-file.ts';
import type { RouteConfig } from '../../../schemas/generated/types.ts';
import { contextFor } from '../../helpers/cli.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const STATIC_SECRET = 'the-secret-of-the-static-route';
const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: ${STATIC_SECRET}
    rate_limit: 1000000
    routes:
      steady: { events: [wanted], prompt: x }
`;

/** An event that is ignored after the signature check, so that it starts no run. */
async function send(url: string, secret: string): Promise<number> {
  const body = '{"event_type":"unwanted"}';
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  const headers = { 'Content-Type': 'application/json', 'X-Hub-Signature-256': signature };
  const answer = await sendAgain(url, { method: 'POST', body, headers });
  await answer.arrayBuffer();
  return answer.status;
}

test('during 100 changes under load no request fails, and each change applies to the next request', async (t) => {
  const home = tempDir(t);
  const gateway = await startGateway(t, { home, config: CONFIG });
  const context = contextFor({ home });
  const url = `${gateway.url}/webhooks/live`;
  const put = (entry: RouteConfig | null): Promise<null> =>
    updateSubscriptions(context, (entries) => {
      const others = [...entries].filter(([name]) => name !== 'live');
      return { entries: new Map(entry === null ? others : [...others, ['live', entry]]), result: null };
    });

  let [running, served, before] = [true, 0, 0];
  const load = Array.from({ length: 4 }, async () => {
    while (running) {
      assert.equal(await send(`${gateway.url}/webhooks/steady`, STATIC_SECRET), 200);
      served += 1;
      await pause(2);
    }
  });

  const live = (secret: string): RouteConfig => ({ events: ['wanted'], secret });
  for (let round = 0; round < 25; round += 1) {
    const secret = `secret-of-the-live-route-${round}`;
    await put(live(secret));
    assert.equal(await send(url, secret), 200, `added, round ${round}`);
    await put(live(`${secret}-changed`));
    assert.equal(await send(url, secret), 401, `changed, round ${round}`);
    await put({ ...live(secret), enabled: false });
    assert.equal(await send(url, secret), 403, `disabled, round ${round}`);
    await put(null);
    assert.equal(await send(url, secret), 404, `removed, round ${round}`);
    // Every round has load.
    await until(async () => served > before);
    before = served;
  }
  running = false;
  await Promise.all(load);
});
