/** Approving from a double of Slack, with a gateway that is killed and restarted between request and answer. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
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

/** A home whose route needs an approval, which is requested in a double of Slack. */
async function openHome(t: TestContext, more = '', answer?: Parameters<typeof startChat>[2]) {
  const chat = await startChat(t, 'slack', answer);
  const home = tempDir(t);
  const env = { ...chat.env, SECRET };
  const config = `
gateway: { approvals: { deliver: slack, allow: [${ANN.id}]${more} } }
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
  /** Sends an event; returns the values of the buttons of its request. */
  const ask = async (url: string, text: string): Promise<readonly string[]> => {
    const body = JSON.stringify({ text });
    const sent = await sendAgain(`${url}/webhooks/news`, { method: 'POST', body, headers: signed(body, SECRET) });
    assert.equal(sent.status, 202);
    const isRequest = (message: unknown): boolean => /attachments/.test(JSON.stringify(message));
    const asks = (message: unknown): boolean => isRequest(message) && JSON.stringify(message).includes(`; ${text}`);
    return chat.values(await until(async () => chat.messages().find(asks)));
  };
  return { chat, home, env, start, ask };
}

it('approves from Slack with two clicks, survives kills, and sends the message once', async (t) => {
  const { chat, home, env, start, ask } = await openHome(t);
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
  const [approve = '', reject = ''] = await ask(first.url, 'the release is out');
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
  await until(async () => second.output().includes('"by":"slack:U024BE7LH (ann)"'));
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
  for (const secret of Object.values(env)) assert.ok(!log.includes(secret));
});

it('shows in Slack who answered by a command, after a kill, once', async (t) => {
  const { chat, home, env, start, ask } = await openHome(t);
  const first = await start();
  const [approve = ''] = await ask(first.url, 'one');
  await until(async () =>
    (await runInProcess(['approvals', 'list', '--json'], { home, env })).stdout.includes('"one"'),
  );
  await first.kill();
  const given = await runInProcess(['approvals', 'approve', approve.slice(2), '--by', 'eve'], { home, env });
  assert.equal(given.code, 0, given.stderr);
  assert.deepEqual(chat.updates(), []);
  const second = await start();
  assert.match((await until(async () => chat.updates()[0])) ?? '', /approved by cli:eve/);
  await second.kill();
  const third = await start();
  const [, reject = ''] = await ask(third.url, 'two');
  const refused = await runInProcess(['approvals', 'reject', reject.slice(2), '--by', 'eve'], { home, env });
  assert.equal(refused.code, 0, refused.stderr);
  await until(async () => chat.updates().some((text) => /rejected by cli:eve/.test(text)));
  // A kill between the update and its record repeats it, with the same text.
  assert.equal(new Set(chat.updates()).size, 2);
});

it('retries while Slack does not respond, and holds back neither the message nor other requests', async (t) => {
  let isDown = true;
  const { chat, home, env, start, ask } = await openHome(t, ', expires: 4s', ({ path }) =>
    path === '/chat.update' && isDown ? 'drop' : undefined,
  );
  const { url } = await start();
  const [approve = ''] = await ask(url, 'one');
  const given = await runInProcess(['approvals', 'approve', approve.slice(2), '--by', 'eve'], { home, env });
  assert.equal(given.code, 0, given.stderr);
  const posts = () => (chat.messages() as Message[]).filter(({ channel }) => channel === 'C0NEWS0001');
  await until(async () => posts().length === 1);
  await until(async () => chat.updates().length > 0);
  await ask(url, 'two');
  isDown = false;
  const before = chat.updates().length;
  await until(async () =>
    chat
      .updates()
      .slice(before)
      .some((each) => /approved by cli:eve/.test(each)),
  );
  assert.equal(posts().length, 1);
});

it('shows in Slack that a request has expired, without a press', async (t) => {
  const { chat, start, ask } = await openHome(t, ', expires: 1s');
  const { url } = await start();
  const [approve = ''] = await ask(url, 'one');
  assert.notEqual(approve, '');
  assert.match((await until(async () => chat.updates()[0])) ?? '', /expired: not answered in time/);
});
