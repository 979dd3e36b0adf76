/** The live stream: its events, its limit of clients, and its access control. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { atEnd } from '../../helpers/at-end.ts';
import { checkValue, startConsole } from '../../helpers/console.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes: { hello: { events: [greeting], prompt: "Hello {name}" } }
gateway: { console: { port: 0 } }
`;

interface Live {
  readonly came: number;
  readonly missed: number;
  readonly requests: readonly { readonly route: string }[];
  readonly deliveries: readonly { readonly route: string }[] | null;
}

describe('the live stream', () => {
  it('sends requests and deliveries, and the number of new requests', async (t) => {
    const { url, gateway } = await startConsole(t, CONFIG);
    const leave = new AbortController();
    atEnd(t, () => leave.abort());
    const response = await fetch(`${url}/api/events`, { signal: leave.signal });
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    await gateway.cli('webhook', 'test', 'hello', '--payload', '{"name":"Ada"}');
    let text = '';
    const seen = { came: 0, requests: 0, deliveries: 0 };
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += Buffer.from(chunk).toString('utf8');
      const events = [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, data = '']) => JSON.parse(data) as Live);
      for (const event of events) checkValue('LiveEvent', event);
      seen.came = events.reduce((sum, { came }) => sum + came, 0);
      seen.requests = events.flatMap(({ requests }) => requests).length;
      seen.deliveries = Math.max(0, ...events.map(({ deliveries }) => deliveries?.length ?? 0));
      if (seen.came > 0 && seen.requests > 0 && seen.deliveries > 0) break;
    }
    assert.deepEqual(seen, { came: 1, requests: 1, deliveries: 1 });
  });

  it('accepts sixteen clients, and another one when one disconnects', async (t) => {
    const { url } = await startConsole(t, CONFIG);
    const all = Array.from({ length: 16 }, () => new AbortController());
    atEnd(t, () => {
      for (const one of all) one.abort();
    });
    await Promise.all(all.map(({ signal }) => fetch(`${url}/api/events`, { signal })));
    const refused = await fetch(`${url}/api/events`);
    assert.deepEqual([refused.status, ((await refused.json()) as { readonly code: string }).code], [503, 'too_many']);
    all[0]?.abort();
    for (let status = 503; status !== 200; ) {
      const signal = all[1]?.signal as AbortSignal;
      const response = await fetch(`${url}/api/events`, { signal });
      status = response.status;
      if (status !== 200) await response.text();
    }
  });

  it('rejects pages of other sites', async (t) => {
    const { url } = await startConsole(t, CONFIG);
    const response = await fetch(`${url}/api/events`, { headers: { origin: 'https://evil.example' } });
    assert.equal(response.status, 403);
  });
});
