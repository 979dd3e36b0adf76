/** Messages with buttons show answers from elsewhere: a service that hangs, asks for patience or refuses holds up no other. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { compileText } from '../../../main/compiler.ts';
import { answerApproval, listApprovals } from '../../../modules/outputs/runtime/approvals.ts';
import { ChatApprovals } from '../../../modules/outputs/runtime/chat-approvals.ts';
import type { ApprovingContext } from '../../../runtime/dispatch/context.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { startChat } from '../../helpers/chat-doubles.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';
import type { Answer, SeenRequest } from '../../helpers/fake-http.ts';
import { until } from '../../helpers/gateway.ts';
import { recordLog } from '../../helpers/log.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';
import { createService } from '../../helpers/operated-service.ts';
import { handleAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'a-secret-of-a-sender-1';
const HOUR = 3_600_000;

/** Never responds. */
const hang = (_: ServerResponse): void => undefined;

type Answering = (request: SeenRequest) => Answer | undefined;

/** A gateway that requests approvals in Slack and Discord. Time passes when the test says so. */
async function serve(t: TestContext, inSlack: Answering, inDiscord: Answering = () => undefined) {
  const [slack, discord] = [await startChat(t, 'slack', inSlack), await startChat(t, 'discord', inDiscord)];
  const env = { ...slack.env, ...discord.env, SECRET };
  const { table, diagnostics } = await compileText(
    `
gateway: { approvals: { deliver: [slack, discord], allow: ["7001"] } }
platforms:
  slack: ${slack.yaml}
  discord: ${discord.yaml}
  webhook:
    enabled: true
    secret: env:SECRET
    routes: { note: { agent: none, prompt: "{n}", deliver: local, approve: true } }
`,
    { home: '/none', env },
  );
  assert.ok(table !== null, JSON.stringify(diagnostics));
  const clock = new FakeClock(Date.now());
  const log = recordLog();
  const service = await createService({ home: tempDir(t), table, env, log, clock, store: ':memory:' });
  atEnd(t, async () => {
    const stopped = service.stop({ drainMs: 0 });
    await until(async () => {
      clock.advance(1000);
      return Promise.race([stopped.then(() => true), settle().then(() => false)]);
    });
  });
  service.start();
  /** Sends events; resolves once their approvals have been requested. */
  const ask = async (count: number): Promise<void> => {
    const before = discord.messages().length;
    for (let n = 0; n < count; n++) {
      const body = JSON.stringify({ n: `text ${before + n}` });
      const headers = { ...signed(body, SECRET), 'x-request-id': `${before + n}` };
      const request = new Request('http://127.0.0.1/webhooks/note', { method: 'POST', headers, body });
      const local = { handle: (one: Request) => service.handle(one, { address: '127.0.0.1' }) };
      assert.equal((await handleAgain(local, request)).status, 202);
    }
    await until(async () => {
      const all = await service.store.read({ kind: 'list', filter: { limit: 100 } });
      const requests = all.filter(({ event }) => event === 'approval');
      return requests.length === before + count && requests.every(({ state }) => state === 'done');
    });
  };
  const rejectAll = async (): Promise<void> => {
    for (const { id } of await listApprovals(service.store))
      await answerApproval(service.store, id, { approve: false, by: 'console:eve', reason: null }, clock.now());
  };
  /** One look for answers, after the wall clock has moved by `ms`. */
  const look = async (ms = 0): Promise<void> => {
    clock.jump(ms);
    clock.advance(5000);
    await settle(50);
  };
  return { slack, discord, clock, log, service, ask, rejectAll, look };
}

describe('an update', () => {
  it('of a service that hangs delays no other, neither earlier nor later ones', async (t) => {
    const { slack, discord, ask, rejectAll, look } = await serve(t, ({ path }) =>
      path === '/chat.update' ? hang : undefined,
    );
    await ask(6);
    await rejectAll();
    await look();
    await until(async () => discord.updates().length === 6);
    await ask(1);
    await rejectAll();
    // The hanging requests have 5 s left.
    await look();
    await until(async () => discord.updates().length === 7);
    assert.ok(slack.updates().length <= 6);
  });

  it('waits as long as the service asks, and so do the other updates of this service', async (t) => {
    let isLimited = true;
    const { slack, discord, clock, ask, rejectAll, look } = await serve(t, ({ path }) =>
      path === '/chat.update' && isLimited
        ? { status: 429, headers: { 'retry-after': '120' }, body: { ok: false, error: 'ratelimited' } }
        : undefined,
    );
    await ask(12);
    await rejectAll();
    const from = clock.now();
    await look();
    await until(async () => discord.updates().length === 12 && slack.updates().length > 0);
    const tried = slack.updates().length;
    assert.ok(tried < 12);
    isLimited = false;
    for (; clock.now() < from + 110_000; await look());
    assert.equal(slack.updates().length, tried);
    await until(async () => {
      await look();
      return slack.updates().length === 12 + tried;
    });
    assert.equal(discord.updates().length, 12);
  });

  it('that is refused for its credentials is sent again once they are accepted', async (t) => {
    let isRefused = true;
    const answer =
      (isUpdate: (request: SeenRequest) => boolean, refused: Answer): Answering =>
      (request) =>
        isUpdate(request) && isRefused ? refused : undefined;
    const { slack, discord, log, ask, rejectAll, look } = await serve(
      t,
      answer(({ path }) => path === '/chat.update', { body: { ok: false, error: 'token_revoked' } }),
      answer(({ method }) => method === 'PATCH', { status: 403, body: { code: 50001, message: 'Missing Access' } }),
    );
    await ask(1);
    await rejectAll();
    await look();
    await until(async () => slack.updates().length === 1 && discord.updates().length === 1);
    await look(HOUR);
    await until(async () => slack.updates().length === 2 && discord.updates().length === 2);
    isRefused = false;
    await until(async () => {
      await look(HOUR);
      return slack.updates().length === 3 && discord.updates().length === 3;
    });
    for (let n = 0; n < 5; n++) await look(HOUR);
    assert.deepEqual([slack.updates().length, discord.updates().length], [3, 3]);
    assert.equal(log.lines.filter(({ message }) => /does not show the answer/.test(message)).length, 2);
  });

  it('that is always refused is tried less and less often, for a day; one of a deleted message once', async (t) => {
    const { slack, discord, service, ask, rejectAll, look } = await serve(
      t,
      ({ path }) => (path === '/chat.update' ? { body: { ok: false, error: 'invalid_auth' } } : undefined),
      ({ method }) => (method === 'PATCH' ? { status: 404, body: { code: 10008, message: 'Unknown' } } : undefined),
    );
    await ask(1);
    await rejectAll();
    const rows = () => service.store.read({ kind: 'guard_rows', of: 'asked' });
    let hours = 0;
    for (; (await rows()).length > 0; hours++) {
      const before = slack.updates().length;
      await look(HOUR * 1.2);
      if (hours > 0) await until(async () => slack.updates().length > before || (await rows()).length === 0);
      assert.ok(hours < 40);
    }
    assert.ok(hours >= 20, `${hours}`);
    assert.equal(discord.updates().length, 1);
    const { length } = slack.updates();
    assert.ok(length < 40, `${length}`);
  });
});

describe('an approval request', () => {
  it('is sent while another service does not respond', async (t) => {
    const { discord, ask } = await serve(t, ({ path }) => (path === '/auth.test' ? hang : undefined));
    await ask(1);
    assert.equal(discord.messages().length, 1);
  });
});

it('forgets the chat of a press once another gateway has updated the message', async () => {
  const store = createMemoryStore();
  const clock = new FakeClock();
  const now = clock.now();
  const context = { store, clock } as Partial<ApprovingContext> as ApprovingContext;
  const pressed = new Map([
    ['slack one-0-abc', 'C1'],
    ['slack two-0-abc', 'C1'],
  ]);
  const chats = new ChatApprovals(context, pressed);
  const body = JSON.stringify({ approval: 'two-0-abc', due_at: now + HOUR, target: 'slack' });
  const row = { kind: 'asked', key: 'notice-0' } as const;
  await store.write({ kind: 'put_guard', row, expect: null, body, expires_at: now + HOUR, dispatch: null, now });
  await chats.showAnswers([], assert.ifError);
  assert.deepEqual([...pressed.keys()], ['slack two-0-abc']);
});
