/** Approval requests with buttons: only the first authentic answer of a person who may answer counts. */

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { compileText } from '../../../main/compiler.ts';
import {
  answerApproval,
  findApproval,
  listApprovals,
  undoApproval,
} from '../../../modules/outputs/runtime/approvals.ts';
import type { Approval } from '../../../schemas/built/operations/types.ts';
import { atEnd } from '../../helpers/at-end.ts';
import type { ChatDouble, ChatName, Person, Pressing } from '../../helpers/chat-doubles.ts';
import { startChat } from '../../helpers/chat-doubles.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { until } from '../../helpers/gateway.ts';
import { recordLog } from '../../helpers/log.ts';
import { createService } from '../../helpers/operated-service.ts';
import { handleAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'a-secret-of-a-sender-1';
const ANN: Person = { id: '7001', name: 'ann' };
const BOB: Person = { id: '7002', name: 'bob' };

interface Setting {
  /** Keys of `gateway.approvals` besides `deliver`. */
  readonly more?: string;
  /** Value of the variable of the server's secret. */
  readonly secret?: string;
  readonly answer?: Parameters<typeof startChat>[2];
}

function configOf({ target, yaml }: ChatDouble, more = '', top = 'public_url: https://hooks.example'): string {
  return `
${top}
gateway: { approvals: { deliver: ${target}${more} } }
platforms:
  ${target}: ${yaml}
  webhook:
    enabled: true
    secret: env:SECRET
    host: 127.0.0.1
    routes: { note: { agent: none, prompt: "{n}", deliver: local, approve: true } }
`;
}

async function serve(t: TestContext, name: ChatName, { more = '', secret = SECRET, answer }: Setting = {}) {
  const chat = await startChat(t, name, answer);
  const env = { ...chat.env, SECRET: secret };
  const compiled = await compileText(configOf(chat, more, secret === SECRET ? undefined : ''), { home: '/none', env });
  assert.ok(compiled.table !== null, JSON.stringify(compiled.diagnostics));
  const log = recordLog();
  const service = await createService({ home: tempDir(t), table: compiled.table, env, log, store: ':memory:' });
  atEnd(t, () => service.stop({ drainMs: 0 }));
  service.start();
  const { store } = service;
  const stateOf = async (id: string): Promise<Approval> => {
    const found = await findApproval(store, id);
    return found.kind === 'found' ? found.approval : assert.fail(found.kind);
  };
  const isReady = (): boolean => name !== 'telegram' || chat.seen.some(({ path }) => path.endsWith('/setWebhook'));
  const local = { handle: (request: Request) => service.handle(request, { address: '127.0.0.1' }) };
  let count = 0;
  /** Sends an event; resolves once its approval is requested in the chat. */
  const ask = async () => {
    await until(async () => isReady());
    const before = chat.messages().length;
    const body = JSON.stringify({ n: `text ${++count}` });
    const headers = { ...signed(body, secret), 'x-request-id': String(count) };
    const sent = await handleAgain(
      local,
      new Request('http://127.0.0.1/webhooks/note', { method: 'POST', headers, body }),
    );
    assert.equal(sent.status, 202);
    const message = await until(async () => chat.messages()[before]);
    const approval = (await listApprovals(store)).find(({ text }) => text === `text ${count}`) ?? assert.fail();
    const [approve = '', reject = ''] = chat.values(message);
    return { id: approval.id, approve, reject, message };
  };
  const press = async (pressing: Pressing) => {
    const before = chat.seen.length;
    const { status, json } = await chat.press(service, pressing);
    return { status, told: () => chat.told(json, chat.seen.slice(before)) };
  };
  return { chat, service, log, ask, press, stateOf, compiled };
}

for (const name of ['slack', 'discord', 'telegram'] as const) {
  describe(`buttons in ${name}`, () => {
    it('approve and reject with one press; the message then shows who did, without buttons', async (t) => {
      const { chat, ask, press, stateOf } = await serve(t, name);
      const [first, second] = [await ask(), await ask()];
      assert.deepEqual([first.approve, first.reject], [`a:${first.id}`, `r:${first.id}`]);
      // Telegram's limit; ids have this length up to the thousandth delivery of an event.
      assert.ok(first.approve.length + 2 <= 64);
      assert.equal((await press({ value: first.approve, person: ANN })).status, 200);
      assert.deepEqual((await stateOf(first.id)).answer?.by, `${name}:7001 (ann)`);
      assert.equal((await stateOf(first.id)).state, 'approved');
      assert.equal((await stateOf(second.id)).state, 'waiting');
      const [shown] = await until(async () => chat.updates().length === 1 && chat.updates());
      assert.match(shown ?? '', /approved by .*7001 \(ann\)/);
      assert.match(shown ?? '', /(?:>|&gt;) text 1\n/);
      assert.doesNotMatch(shown ?? '', /approvals approve/);
      await press({ value: second.reject, person: BOB });
      assert.equal((await stateOf(second.id)).state, 'rejected');
      const update = await until(async () => chat.seen.filter(chat.isUpdate)[1]);
      assert.throws(() => assert.ok(chat.values(update.json).length > 0));
    });

    it('disappear when the approval is answered elsewhere, and the message says by whom, once', async (t) => {
      const { chat, service, ask, press } = await serve(t, name);
      const [first, second, third] = [await ask(), await ask(), await ask()];
      const answer = { approve: true, by: 'console:eve', reason: null };
      assert.equal((await answerApproval(service.store, first.id, answer, Date.now())).kind, 'answered');
      // Each press makes the gateway look for answers.
      await press({ value: second.reject, person: BOB });
      await until(async () => chat.updates().length === 2);
      await press({ value: third.reject, person: BOB });
      await until(async () => chat.updates().length === 3);
      const shown = chat.seen.filter(chat.isUpdate).filter((update) => /console:eve/.test(chat.textOf(update.json)));
      const [update] = shown;
      assert.equal(shown.length, 1);
      assert.match(chat.textOf(update?.json), /approved by console:eve/);
      for (const part of [chat.chat, { slack: '1700000000.000100', discord: '555', telegram: '55' }[name]])
        assert.ok(`${update?.path} ${JSON.stringify(update?.json)}`.includes(part), part);
      assert.throws(() => assert.ok(chat.values(update?.json).length > 0));
    });

    it('stay during the time in which an approval can be undone, and a press that was refused then never counts', async (t) => {
      const { chat, service, ask, press, stateOf } = await serve(t, name);
      const { id, approve, reject } = await ask();
      const { store } = service;
      const answer = { approve: true, by: 'console:eve', reason: null, delay_ms: 60_000 };
      assert.equal((await answerApproval(store, id, answer, Date.now())).kind, 'answered');
      const refused = await press({ value: approve, person: ANN });
      assert.match(await until(async () => refused.told()), /too late/);
      assert.deepEqual(chat.updates(), []);
      assert.equal((await undoApproval(store, id, 'console:eve', Date.now())).kind, 'answered');
      await press({ value: approve, person: ANN });
      assert.equal((await stateOf(id)).state, 'waiting');
      await press({ value: reject, person: BOB });
      assert.equal((await stateOf(id)).state, 'rejected');
    });

    it('count only for the first of two people, and tell the other who answered', async (t) => {
      const { ask, press, stateOf } = await serve(t, name);
      const { id, approve, reject } = await ask();
      const both = await Promise.all([
        press({ value: approve, person: ANN }),
        press({ value: reject, person: BOB }),
        press({ value: approve, person: ANN }),
      ]);
      assert.deepEqual(
        both.map(({ status }) => status),
        [200, 200, 200],
      );
      const { state, answer } = await stateOf(id);
      assert.equal(state, answer?.by === `${name}:7001 (ann)` ? 'approved' : 'rejected');
      const again = await press({ value: approve, person: BOB });
      const told = await until(async () => again.told());
      assert.match(
        told,
        new RegExp(`${state} by ${name}:${answer?.by.slice(name.length + 1, -1).replace('(', '\\(')}`),
      );
      assert.deepEqual(await stateOf(id), { ...(await stateOf(id)), state, answer });
    });

    it('refuse forged callbacks, and others than POST', async (t) => {
      const { chat, service, ask, press, stateOf } = await serve(t, name);
      const { id, approve } = await ask();
      const forged = await press({ value: approve, person: ANN, secret: 'a-secret-of-another-app' });
      assert.equal(forged.status, 401);
      const { headers, body } = chat.callback({ value: approve, person: ANN }, chat.seen);
      const send = (init: RequestInit, path = `/approvals/${name}`) =>
        handleAgain(service, new Request(`http://x${path}`, { method: 'POST', headers, body, ...init }));
      const unsigned = await send({ headers: { 'content-type': headers['content-type'] ?? '' } });
      assert.equal(unsigned.status, 401);
      if (name !== 'telegram') assert.equal((await send({ body: body.replace('7001', '7009') })).status, 401);
      assert.equal((await send({ method: 'GET', body: null })).status, 405);
      assert.equal((await send({}, `/approvals/${name}x`)).status, 404);
      assert.equal((await send({}, '/approvals/')).status, 404);
      assert.equal((await send({}, `/webhooks/approvals/${name}`)).status, 404);
      assert.equal((await stateOf(id)).state, 'waiting');
    });

    it('ignore callbacks that are not about an approval, and unknown approvals', async (t) => {
      const { ask, press, stateOf } = await serve(t, name);
      const { id } = await ask();
      const other = `${id.slice(0, -32)}${'0'.repeat(32)}`;
      for (const value of [
        '',
        'a:',
        'x:y',
        `b:${id}`,
        ` a:${id}`,
        `a:${id}\n`,
        `a:${id.slice(0, -1)}`,
        `a:${other}`,
        `A:${id}`,
      ])
        assert.equal((await press({ value, person: ANN })).status, 200, value);
      assert.equal((await stateOf(id)).state, 'waiting');
    });

    it('refuse people who are not listed, other chats, other accounts and bots, and record nothing', async (t) => {
      const { log, ask, press, stateOf } = await serve(t, name, { more: ', allow: ["7001"]' });
      const { id, approve } = await ask();
      const refused: Omit<Pressing, 'value'>[] = [
        { person: BOB },
        { person: { id: '70010', name: 'ann' } },
        { person: ANN, chat: name === 'slack' ? 'C9999999999' : '-99' },
        ...(name === 'telegram' ? [] : [{ person: ANN, account: 'T2' }]),
        ...(name === 'slack' ? [] : [{ person: { ...ANN, bot: true } }]),
      ];
      for (const of of refused) {
        const { status, told } = await press({ value: approve, ...of });
        assert.equal(status, 200);
        assert.ok((await until(async () => told())).length > 0);
      }
      assert.equal((await stateOf(id)).state, 'waiting');
      assert.equal(log.lines.filter(({ message }) => message.includes('refused')).length, refused.length);
      await press({ value: approve, person: ANN });
      assert.equal((await stateOf(id)).state, 'approved');
    });
  });
}

describe('a callback', () => {
  it('of Slack and Discord is refused after five minutes; a repeat within them changes nothing', async (t) => {
    for (const name of ['slack', 'discord'] as const) {
      const { ask, press, stateOf } = await serve(t, name);
      const { id, approve, reject } = await ask();
      const at = Math.floor(Date.now() / 1000);
      for (const off of [-301, -3600, 302, 3600])
        assert.equal((await press({ value: approve, person: ANN, at: at + off })).status, 401, String(off));
      assert.equal((await stateOf(id)).state, 'waiting');
      await press({ value: reject, person: ANN, at });
      const answered = await stateOf(id);
      for (let n = 0; n < 3; n++) await press({ value: approve, person: ANN, at });
      assert.deepEqual(await stateOf(id), answered);
    }
  });

  it('of Discord that only tests the address is answered if it is signed', async (t) => {
    const { chat, service } = await serve(t, 'discord');
    const ping = { value: '', person: ANN, raw: '{"type":1}' };
    assert.deepEqual(await chat.press(service, ping), { status: 200, json: { type: 1 } });
    assert.equal((await chat.press(service, { ...ping, secret: 'another' })).status, 401);
  });

  it('is refused while the workspace of the token is unknown', async (t) => {
    let isDown = true;
    const answer = ({ path }: { path: string }) => (path === '/auth.test' && isDown ? ('drop' as const) : undefined);
    const { ask, press, stateOf } = await serve(t, 'slack', { answer });
    const { id, approve } = await ask();
    const { told } = await press({ value: approve, person: ANN });
    assert.match(await until(async () => told()), /try again/);
    assert.equal((await stateOf(id)).state, 'waiting');
    isDown = false;
    await press({ value: approve, person: ANN });
    assert.equal((await stateOf(id)).state, 'approved');
  });

  it('needs its own signature also where the server accepts requests without one', async (t) => {
    const { ask, chat, service, stateOf } = await serve(t, 'slack', { secret: 'INSECURE_NO_AUTH' });
    const { id, approve } = await ask();
    const { headers, body } = chat.callback({ value: approve, person: ANN, secret: 'INSECURE_NO_AUTH' }, []);
    for (const signature of [headers['x-slack-signature'] ?? '', ''])
      assert.equal(
        (
          await service.handle(
            new Request('http://127.0.0.1/approvals/slack', {
              method: 'POST',
              headers: { ...headers, 'x-slack-signature': signature },
              body,
            }),
            { address: '127.0.0.1' },
          )
        ).status,
        401,
      );
    assert.equal((await stateOf(id)).state, 'waiting');
  });

  it('with INSECURE_NO_AUTH as signing secret is refused, from anywhere', async (t) => {
    const chat = await startChat(t, 'slack');
    const env = { ...chat.env, SECRET: 'INSECURE_NO_AUTH', SIGNING: 'INSECURE_NO_AUTH' };
    const { table } = await compileText(configOf(chat, '', ''), { home: '/none', env });
    const service = await createService({
      home: tempDir(t),
      table: table ?? assert.fail(),
      env,
      log: recordLog(),
      store: ':memory:',
    });
    atEnd(t, () => service.stop({ drainMs: 0 }));
    const { headers, body } = chat.callback({ value: 'a:1-0-2', person: ANN }, []);
    const request = new Request('http://127.0.0.1/approvals/slack', { method: 'POST', headers, body });
    assert.equal((await service.handle(request, { address: '127.0.0.1' })).status, 403);
  });

  it('after the approval has expired changes nothing, and the message says so', async (t) => {
    const { chat, ask, press, stateOf } = await serve(t, 'slack', { more: ', expires: 1s' });
    const { id, approve } = await ask();
    await until(async () => (await stateOf(id)).state === 'expired');
    const { told } = await press({ value: approve, person: ANN });
    assert.match(await until(async () => told()), /expired/);
    assert.match((await until(async () => chat.updates()[0])) ?? '', /expired/);
    assert.equal((await stateOf(id)).state, 'expired');
  });

  it('with a name full of markup records only its letters', async (t) => {
    const { ask, press, stateOf } = await serve(t, 'slack');
    const { id, approve } = await ask();
    await press({ value: approve, person: { id: '7001', name: '<!channel> \u202e*Ann* `x` [y](http://z) Ümit' } });
    assert.equal((await stateOf(id)).answer?.by, 'slack:7001 (channel Ann x yhttpz Ümit)');
  });
});

describe('Telegram', () => {
  it('receives the address and a secret, and never loses the webhook of another program', async (t) => {
    const { chat, log } = await serve(t, 'telegram');
    const set = await until(async () => chat.seen.find(({ path }) => path.endsWith('/setWebhook')));
    const { url, secret_token, allowed_updates } = set.json as Record<string, unknown>;
    assert.deepEqual([url, allowed_updates], ['https://hooks.example/approvals/telegram', ['callback_query']]);
    assert.match(String(secret_token), /^[0-9a-f]{64}$/);
    for (const kept of ['token-of-this-test', String(secret_token)])
      assert.ok(!JSON.stringify(log.lines).includes(kept));
    const foreign = await serve(t, 'telegram', {
      answer: ({ path }) =>
        path.endsWith('/getWebhookInfo')
          ? { body: { ok: true, result: { url: 'https://other.example/bot/k3y' } } }
          : undefined,
    });
    const line = await until(async () => foreign.log.lines.find(({ fields }) => fields.host === 'other.example'));
    assert.doesNotMatch(JSON.stringify(line), /k3y/);
    assert.deepEqual(
      foreign.chat.seen.filter(({ path }) => path.endsWith('/setWebhook')),
      [],
    );
  });
});

describe('buttons are off', () => {
  const routes = async (yaml: string, env: Record<string, string> = {}) => {
    const { table, diagnostics } = await compileText(yaml, {
      home: '/none',
      env: { T: 'a-token-of-this-test-1', ...env },
    });
    return {
      paths: Object.values(table?.callbacks ?? {}).map(({ name }) => name),
      rules: diagnostics.map(({ rule }) => rule),
    };
  };
  const gateway = (approvals: string, platform: string, more = ''): string =>
    `${more}\ngateway: { approvals: { ${approvals} } }\nplatforms: { ${platform} }\n`;

  it('without the secret, for incoming webhooks, and without public_url where the gateway registers it', async () => {
    const token = 'slack: { enabled: true, token: env:T, home_channel: C0123456789 }';
    const on = 'slack: { enabled: true, token: env:T, signing_secret: env:T, home_channel: C0123456789 }';
    const hook = 'slack: { enabled: true, webhook_url: env:T, signing_secret: env:T }';
    const bot = 'telegram: { enabled: true, token: env:T, home_channel: "1" }';
    const url = 'public_url: https://x.example';
    assert.deepEqual(await routes(gateway('deliver: slack', token)), { paths: [], rules: [] });
    assert.deepEqual(await routes(gateway('deliver: slack, allow: [U1]', token)), {
      paths: [],
      rules: ['approval-buttons'],
    });
    assert.deepEqual(await routes(gateway('deliver: slack', hook)), { paths: [], rules: ['approval-buttons'] });
    assert.deepEqual(await routes(gateway('deliver: slack', on)), {
      paths: ['/approvals/slack'],
      rules: ['approval-anyone'],
    });
    assert.deepEqual(await routes(gateway('deliver: slack, allow: [U1]', on)), {
      paths: ['/approvals/slack'],
      rules: [],
    });
    assert.deepEqual(await routes(gateway('deliver: local', on)), { paths: [], rules: [] });
    assert.deepEqual(await routes(gateway('deliver: telegram', bot)), { paths: [], rules: [] });
    assert.deepEqual(await routes(gateway('deliver: telegram, allow: ["1"]', bot)), {
      paths: [],
      rules: ['approval-buttons'],
    });
    assert.deepEqual((await routes(gateway('deliver: telegram, allow: ["1"]', bot, url))).paths, [
      '/approvals/telegram',
    ]);
    const both = await routes(gateway('deliver: [slack, telegram], allow: ["1"]', `${on}, ${bot}`, url));
    assert.deepEqual(both.paths.toSorted(), ['/approvals/slack', '/approvals/telegram']);
  });

  it('of a target with `like` only if the other target has none', async (t) => {
    const home = tempDir(t);
    const targets = join(home, 'catalog', 'targets');
    mkdirSync(targets, { recursive: true });
    cpSync(join('catalog', 'targets', 'telegram.yaml'), join(targets, 'telegram.yaml'));
    const request = 'request: { path: "/bot{token}/x", json: { text: "{text}", b: "{approval?}" } }';
    const mine = `title: Mine\nlike: telegram\naddress: { chat_id: { help: Chat. } }\n${request}\n`;
    writeFileSync(join(targets, 'mine.yaml'), mine, { mode: 0o600 });
    const approvals = 'deliver: mine, deliver_extra: { chat_id: "1" }, allow: ["1"]';
    const config = gateway(approvals, 'telegram: { enabled: true, token: env:T }', 'public_url: https://x.example');
    writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
    const compiled = await runInProcess(['compile'], { home, env: { T: 'a-token-of-this-test-1' } });
    assert.equal(compiled.code, 0, compiled.stderr);
    const { callbacks } = JSON.parse(readFileSync(join(home, 'build', 'routes.json'), 'utf8'));
    assert.deepEqual(Object.keys(callbacks), ['mine']);
  });

  it('so messages carry none, and the address does not exist', async (t) => {
    const { chat, service, ask, compiled } = await serve(t, 'slack');
    const { table } = await compileText(configOf(chat).replace('deliver: slack', 'deliver: local'), {
      home: '/none',
      env: { ...chat.env, SECRET },
    });
    const { approve } = await ask();
    const { headers, body } = chat.callback({ value: approve, person: ANN }, []);
    const send = () => service.handle(new Request('http://x/approvals/slack', { method: 'POST', headers, body }));
    await service.swap(table ?? assert.fail());
    assert.equal((await send()).status, 404);
    await service.swap(compiled.table ?? assert.fail());
    assert.equal((await send()).status, 200);
    assert.doesNotMatch(JSON.stringify((await startChat(t, 'slack')).messages()), /attachments/);
  });
});
