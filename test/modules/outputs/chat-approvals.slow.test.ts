/** Approving from a double of Slack, with a gateway that is killed and restarted between request and answer. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { atEnd } from '../../helpers/at-end.ts';
import { startChat } from '../../helpers/chat-doubles.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { until } from '../../helpers/gateway.ts';
import { startGatewayProcess } from '../../helpers/gateway-process.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'a-secret-of-a-sender-1';
interface Message {
  readonly channel: string;
  readonly client_msg_id: string;
}
const ANN = { id: 'U024BE7LH', name: 'ann' };

it('approves from Slack with two clicks, survives kills, and sends the message once', async (t) => {
  const chat = await startChat(t, 'slack');
  const home = tempDir(t);
  const env = { ...chat.env, SECRET };
  const config = `
gateway: { approvals: { deliver: slack, allow: [${ANN.id}] } }
platforms:
  slack: ${chat.yaml}
  webhook:
    enabled: true
    secret: env:SECRET
    host: 127.0.0.1
    port: 0
    routes:
      news: { prompt: "{text}", agent: none, deliver: slack, deliver_extra: { chat_id: C0NEWS0001 }, approve: true }
`;
  writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
  const start = async () => {
    const gateway = await startGatewayProcess({ home, env });
    atEnd(t, () => gateway.kill());
    return gateway;
  };
  /** As Slack does: over HTTP. */
  const over = (url: string) => ({
    handle: async (request: Request): Promise<Response> =>
      fetch(`${url}${new URL(request.url).pathname}`, {
        method: request.method,
        headers: request.headers,
        body: await request.text(),
      }),
  });
  const first = await start();
  const body = '{"text":"the release is out"}';
  const sent = await sendAgain(`${first.url}/webhooks/news`, { method: 'POST', body, headers: signed(body, SECRET) });
  assert.equal(sent.status, 202);
  const request = await until(async () => chat.messages()[0]);
  const [approve = '', reject = ''] = chat.values(request);
  await first.kill();

  const second = await start();
  // Approve, and confirm in Slack's dialog.
  const posts = (): readonly Message[] =>
    (chat.messages() as Message[]).filter(({ channel }) => channel === 'C0NEWS0001');
  // On a slow machine the workspace is not known at once, and Ann has to press again.
  await until(async () => {
    assert.equal((await chat.press(over(second.url), { value: approve, person: ANN })).status, 200);
    return posts().length > 0;
  });
  const [post] = posts();
  assert.match(JSON.stringify(post), /"text":"the release is out"/);
  assert.doesNotMatch(JSON.stringify(post), /attachments/);
  await second.kill();

  const third = await start();
  const before = chat.updates().length;
  assert.equal((await chat.press(over(third.url), { value: reject, person: ANN })).status, 200);
  const updates = await until(async () => chat.updates().length > before && chat.updates());
  assert.match(updates.at(-1) ?? '', /approved by slack:U024BE7LH \(ann\)/);
  const shown = await runInProcess(['approvals', 'show', approve.slice(2)], { home, env });
  assert.match(shown.stdout, /^state +approved by slack:U024BE7LH \(ann\)/m);
  // A delivery that a kill interrupts is repeated with the same id.
  assert.equal(new Set(posts().map(({ client_msg_id }) => client_msg_id)).size, 1);
  const log = first.output() + second.output() + third.output();
  assert.match(log, /"by":"slack:U024BE7LH \(ann\)"/);
  for (const secret of Object.values(env)) assert.ok(!log.includes(secret));
});
