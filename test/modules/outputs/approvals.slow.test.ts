/** Messages with approval: none is sent without it, and the approved message is the shown one. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { compileText } from '../../../main/compiler.ts';
import { answerApproval, findApproval, listApprovals, receiverOf } from '../../../modules/outputs/runtime/approvals.ts';
import { noticeText } from '../../../modules/outputs/runtime/notice.ts';
import { destinationInTable } from '../../../runtime/deliver/http/link-variant.ts';
import { listJobs, manualDispatch } from '../../../runtime/dispatch/scheduler/job.ts';
import type { OperatedService } from '../../../runtime/service/options.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import type { Approval } from '../../../schemas/built/operations/types.ts';
import { atEnd } from '../../helpers/at-end.ts';
import type { BenchOptions } from '../../helpers/dispatch-bench.ts';
import { claimOf, dispatchBench, notSent, sentOk, stateOf, storedIn } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';
import { until } from '../../helpers/gateway.ts';
import { recordLog } from '../../helpers/log.ts';
import { createService } from '../../helpers/operated-service.ts';
import { handleAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const HOUR = 3_600_000;
const NEEDS_APPROVAL = { deliveries: [{ target: 'chat', extra: { chat_id: '7' }, unresolved: [], approve_ms: HOUR }] };

async function benchWithApproval(options: BenchOptions = {}) {
  const bench = dispatchBench(options);
  await bench.service.start();
  await bench.service.accept(makeDispatch('a', NEEDS_APPROVAL), claimOf('1'), null);
  await settle();
  return bench;
}

/** The whole id of the message, also when it is answered: only `show` takes a part of it. */
const idIn = async (store: Store): Promise<string> => {
  const found = await findApproval(store, 'a');
  return found.kind === 'found' ? found.approval.id : 'none';
};

const answer = async (
  bench: ReturnType<typeof dispatchBench>,
  approve: boolean,
  by = 'ann',
  reason: string | null = null,
) => {
  const id = await idIn(bench.store);
  const answered = await answerApproval(bench.store, id, { approve, by, reason }, bench.clock.now());
  bench.service.wake();
  await settle();
  return answered;
};

const texts = ({ deliveries }: ReturnType<typeof dispatchBench>): readonly string[] =>
  deliveries.map(({ text }) => text);

describe('a message with approve', () => {
  it('is sent as shown once a person approves it', async () => {
    const bench = await benchWithApproval();
    const [shown] = await listApprovals(bench.store);
    assert.deepEqual(
      [shown?.state, shown?.text, shown?.address],
      ['waiting', 'answer to prompt of a', { chat_id: '7' }],
    );
    await bench.clock.advance(HOUR - 1);
    await settle();
    assert.deepEqual(texts(bench), []);
    const answered = await answer(bench, true);
    assert.equal(answered.kind === 'answered' && answered.approval.state, 'approved');
    assert.deepEqual(texts(bench), [shown?.text]);
    assert.equal(stateOf(bench.store, 'a'), 'done');
    assert.equal((await findApproval(bench.store, shown?.id ?? '')).kind, 'found');
  });

  it('is skipped with the reason when rejected, and does not count as a failure', async () => {
    const bench = await benchWithApproval();
    await answer(bench, false, 'bob', 'it names a customer');
    const stored = storedIn(bench.store, 'a');
    assert.deepEqual([stored?.state, stored?.reason], ['skipped', 'chat: not_approved: it names a customer']);
    assert.deepEqual(texts(bench), []);
    assert.deepEqual(await listApprovals(bench.store), []);
  });

  it('needs a new approval when replayed: the first answer does not count', async () => {
    const bench = await benchWithApproval();
    const [first] = await listApprovals(bench.store);
    await answer(bench, false);
    assert.equal((await findApproval(bench.store, first?.id ?? '')).kind, 'found');
    const ref = storedIn(bench.store, 'a')?.ref ?? 0;
    await bench.store.write({ kind: 'resend', ref, key: null, again: false, now: bench.clock.now() });
    const [second, ...others] = await listApprovals(bench.store);
    assert.deepEqual([second?.state, others], ['waiting', []]);
    assert.notEqual(second?.id, first?.id);
    const late = await answerApproval(
      bench.store,
      first?.id ?? '',
      { approve: true, by: 'ann', reason: null },
      bench.clock.now(),
    );
    assert.notEqual(late.kind, 'answered');
  });

  it('is dead without an answer in time, even if the gateway was stopped', async () => {
    const bench = await benchWithApproval();
    await bench.service.stop(0);
    const again = dispatchBench({ store: bench.store, clock: bench.clock });
    await bench.clock.advance(2 * HOUR);
    await again.service.start();
    await settle();
    assert.deepEqual(
      [storedIn(bench.store, 'a')?.state, storedIn(bench.store, 'a')?.reason],
      ['dead', 'chat: not_approved'],
    );
    const late = await answerApproval(
      bench.store,
      await idIn(bench.store),
      { approve: true, by: 'ann', reason: null },
      bench.clock.now(),
    );
    assert.equal(late.kind === 'late' && late.approval.state, 'expired');
    assert.deepEqual([...texts(bench), ...texts(again)], []);
  });

  it('reports a missing answer as a failed delivery, and a rejection not', async () => {
    const failures: (string | null)[] = [];
    const observer = { deliveryEnded: (_: unknown, __: number, failure: string | null) => void failures.push(failure) };
    const rejected = await benchWithApproval({ context: { observer } });
    await answer(rejected, false);
    assert.deepEqual(failures, []);
    const expired = await benchWithApproval({ context: { observer } });
    await expired.clock.run(HOUR + 1);
    assert.deepEqual(failures.length, 1);
    assert.match(failures[0] ?? '', /^not_approved: /);
  });

  it('cannot be answered once its time has passed, even before the gateway has ended it', async () => {
    const bench = await benchWithApproval();
    const now = bench.clock.now() + HOUR;
    const [shown] = await listApprovals(bench.store);
    const late = await answerApproval(bench.store, shown?.id ?? '', { approve: true, by: 'ann', reason: null }, now);
    assert.deepEqual([late.kind, late.kind === 'late' && late.approval.state], ['late', 'expired']);
  });

  it('names the first answer to a second one that arrives between any two reads of the store', async () => {
    for (let at = 1; at <= 8; at++) {
      const bench = await benchWithApproval();
      const [shown] = await listApprovals(bench.store);
      const id = shown?.id ?? '';
      let reads = 0;
      const store = Object.assign(Object.create(bench.store) as Store, {
        read: async (query: Parameters<Store['read']>[0]) => {
          if (++reads === at) await answer(bench, false, 'ann', 'no');
          return bench.store.read(query);
        },
      });
      const second = await answerApproval(store, id, { approve: true, by: 'bob', reason: null }, bench.clock.now());
      if (reads < at) break;
      assert.equal(second.kind, 'late', `answered before read ${at}`);
      assert.deepEqual(second.kind === 'late' && second.approval.answer?.by, 'ann');
    }
  });

  it('reports an answer that was stored, even if the store fails immediately afterwards', async () => {
    const bench = await benchWithApproval();
    const [shown] = await listApprovals(bench.store);
    let isStored = false;
    const store = Object.assign(Object.create(bench.store) as Store, {
      read: async (query: Parameters<Store['read']>[0]) => {
        if (isStored) throw new StoreUnavailable('gone');
        return bench.store.read(query);
      },
      write: async (change: Parameters<Store['write']>[0]) => {
        const result = await bench.store.write(change);
        isStored = true;
        return result;
      },
    });
    const now = bench.clock.now();
    const answered = await answerApproval(store, shown?.id ?? '', { approve: true, by: 'ann', reason: 'fine' }, now);
    const found = await findApproval(bench.store, shown?.id ?? '');
    assert.deepEqual(
      [answered.kind, answered.kind === 'answered' && answered.approval],
      ['answered', found.kind === 'found' && found.approval],
    );
  });

  it('accepts the first answer, and names it to the second', async () => {
    const bench = await benchWithApproval();
    const all = await Promise.all([answer(bench, false, 'ann', 'no'), answer(bench, true, 'bob')]);
    assert.deepEqual(all.map(({ kind }) => kind).sort(), ['answered', 'late']);
    const late = all.find(({ kind }) => kind === 'late');
    assert.deepEqual(late !== undefined && 'approval' in late && late.approval.answer?.by, 'ann');
    assert.deepEqual(texts(bench), []);
  });

  it('is retried after an approval while its target fails', async () => {
    let fails = 2;
    const bench = await benchWithApproval({ deliver: () => (fails-- > 0 ? notSent('retry') : sentOk()) });
    await answer(bench, true);
    await bench.clock.run(HOUR);
    await settle();
    assert.equal(stateOf(bench.store, 'a'), 'done');
    assert.equal(texts(bench).length, 3);
  });

  it('has another id with another text, and is not found by the old id', async () => {
    const bench = await benchWithApproval();
    const [shown] = await listApprovals(bench.store);
    const other = `${shown?.id.slice(0, -32)}${'0'.repeat(32)}`;
    assert.equal((await findApproval(bench.store, other)).kind, 'unknown');
    assert.equal(
      (await answerApproval(bench.store, other, { approve: true, by: 'x', reason: null }, 0)).kind,
      'unknown',
    );
  });
});

const SECRET = 'a-secret-of-a-sender-1';
const YAML = `
gateway:
  approvals: { deliver: local, expires: 8h }
  alerts: { deliver: local, on: [approval] }
platforms:
  webhook:
    enabled: true
    secret: env:SECRET
    routes:
      review:
        prompt: "{n}"
        deliver: local
        approve: true
        outputs: { page: { deliver: local, max: 2, approve: true }, note: { deliver: local } }
`;

async function serve(t: TestContext, home = tempDir(t), yaml = YAML, env: Record<string, string> = { SECRET }) {
  const { table, diagnostics } = await compileText(yaml, { home, env });
  if (table === null) throw new Error(JSON.stringify(diagnostics));
  const agent = (request: { readonly prompt: string }): string => `answer to ${request.prompt}\n> approve it`;
  const service = await createService({ table, home, env, agent, log: recordLog() });
  atEnd(t, () => service.stop({ drainMs: 0 }));
  const send = async (n: number, route = 'review'): Promise<void> => {
    const body = JSON.stringify({ n });
    const headers = { ...signed(body, SECRET), 'x-hookwright-delivery': String(n), 'x-request-id': String(n) };
    const response = await handleAgain(
      service,
      new Request(`http://x/webhooks/${route}`, { method: 'POST', headers, body }),
    );
    assert.equal(response.status, 202);
  };
  return { service, send, store: service.store };
}

/** The gateway's own messages, oldest first. */
async function ownMessages(store: Store): Promise<readonly string[]> {
  const rows = await store.read({ kind: 'list', filter: { limit: 50 } });
  const own = rows.filter(({ route, job }) => route === null && job === null).reverse();
  const loaded = await Promise.all(own.map(({ ref }) => store.read({ kind: 'load', ref })));
  return loaded.map((stored) => stored?.dispatch.prompt ?? '');
}

describe('gateway.approvals', () => {
  it('sends one notice for each message, with its text and how to answer, and none again after a restart', async (t) => {
    const home = tempDir(t);
    const first = await serve(t, home);
    await first.send(1);
    await until(async () => (await ownMessages(first.store)).length === 2);
    const [approval] = await listApprovals(first.store);
    assert.ok(approval !== undefined);
    const [notice, alert] = (await ownMessages(first.store)).toSorted();
    assert.match(alert ?? '', /: route review\n/);
    assert.match(notice ?? '', /\breview\b.*\n```\n.*\blocal\n```\n.*\d{4}-/);
    assert.match(notice ?? '', /\n```\n> answer to 1\n> > approve it\n```\n/);
    assert.match(
      notice ?? '',
      new RegExp(`\nhookwright approvals approve ${approval.id}\nhookwright approvals reject ${approval.id}$`),
    );
    await first.service.stop({ drainMs: 1000 });
    const second = await serve(t, home);
    second.service.start();
    const answered = await answerApproval(
      second.store,
      approval.id,
      { approve: true, by: 'ann', reason: null },
      Date.now(),
    );
    assert.equal(answered.kind, 'answered');
    second.service.changed();
    await until(async () => (await ownMessages(second.store)).some((text) => text.includes(': resolved: ')));
    assert.equal((await ownMessages(second.store)).filter((text) => text.includes('needs your approval')).length, 1);
    assert.equal((await listApprovals(second.store)).length, 0);
  });
});

it('the alert counts the messages that wait now, also after restarts', async (t) => {
  const home = tempDir(t);
  const counts = async ({ service }: Awaited<ReturnType<typeof serve>>) =>
    (await service.status()).alerts.map(({ kind, count }) => [kind, count]);
  const first = await serve(t, home);
  for (const n of [1, 2, 3]) await first.send(n);
  await until(async () => (await listApprovals(first.store)).length === 3);
  await first.service.stop({ drainMs: 1000 });
  for (let n = 0; n < 3; n++) {
    const again = await serve(t, home);
    again.service.start();
    await until(async () => (await counts(again)).length === 1);
    await again.service.stop({ drainMs: 1000 });
  }
  const last = await serve(t, home);
  last.service.start();
  await until(async () => JSON.stringify(await counts(last)) === '[["approval",3]]');
  const [one] = await listApprovals(last.store);
  await answerApproval(last.store, one?.id ?? '', { approve: true, by: 'ann', reason: null }, Date.now());
  last.service.changed();
  // The count of an alert is stored at most every ten seconds.
  await until(async () => JSON.stringify(await counts(last)) === '[["approval",2]]');
  assert.equal(
    (await ownMessages(last.store)).filter((text) => /^hookwright: (?!resolved)[^:]*: route review/.test(text)).length,
    1,
  );
});

it('a request for approval is the only message about it, unless the alert is asked for', async (t) => {
  const home = tempDir(t);
  const yaml = (alerts: string) => `${YAML.replace('on: [approval] }', `${alerts}}`)}`;
  for (const [alerts, has] of [
    ['', false],
    ['on: [approval] ', true],
  ] as const) {
    const { table } = await compileText(yaml(alerts), { home, env: { SECRET } });
    assert.equal(table?.gateway.alerts?.on.includes('approval'), has);
    assert.equal(table?.gateway.alerts?.on.includes('delivery_dead'), !has);
  }
  const { table } = await compileText(YAML.replace(/approvals:.*\n/, '').replace(', on: [approval]', ''), {
    home,
    env: { SECRET },
  });
  assert.equal(table?.gateway.alerts?.on.includes('approval'), true);
});

/** A service that accepts everything. */
async function listen(t: TestContext) {
  const got: string[] = [];
  const peer = createServer(async (request, response) => {
    const body = await text(request);
    got.push(request.method === 'POST' && body.includes('chat_id') ? `${request.url} ${body}` : (request.url ?? ''));
    response.end('{"ok":true,"result":{"message_id":1}}');
  });
  await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve));
  t.after(() => peer.close());
  return { got, origin: `http://127.0.0.1:${(peer.address() as AddressInfo).port}` };
}

/** Approves a message and returns its outcome. */
async function approved(service: OperatedService, { id }: { readonly id: string } = assert.fail()): Promise<string> {
  const { store } = service;
  await answerApproval(store, id, { approve: true, by: 'ann', reason: null }, Date.now());
  service.changed();
  const { state, reason } = await until(async () => {
    const found = await store.read({ kind: 'find', id: id.split('-')[0] ?? '' });
    return found.kind === 'found' && found.dispatch.finished_at !== null && found.dispatch;
  });
  return `${state}: ${reason}`;
}

describe('a message to a chat service', () => {
  it('goes to the home channel and server that were shown, even if they have changed', async (t) => {
    const { got, origin } = await listen(t);
    const yaml = (server = '', body = 'a'): string => `
platforms:
  telegram: { enabled: true, token: env:TOKEN, home_channel: env:CHANNEL, api_base: "${origin}${server}" }
  mattermost: { enabled: true, webhook_url: env:HOOK }
  http: { enabled: true, url: "${origin}/own", body: { ${body}: "{text}" }, allow_http: true, allow_private: true }
  webhook:
    enabled: true
    secret: env:SECRET
    routes:
      chat: { agent: none, prompt: "{n}", deliver: telegram, approve: true }
      team: { agent: none, prompt: "{n}", deliver: mattermost, approve: true }
      own: { agent: none, prompt: "{n}", deliver: http, approve: true }
jobs:
  nightly: { schedule: "0 8 * * *", agent: none, prompt: hi, deliver: telegram, approve: true }
gateway: { approvals: { deliver: local } }
`;
    const home = tempDir(t);
    const env: Record<string, string> = { SECRET, TOKEN: '123456:the-token-of-this-test', CHANNEL: '-77' };
    env.HOOK = `${origin}/hooks/k3y`;
    const { send, store, service } = await serve(t, home, yaml(), env);
    for (const [n, route] of ['chat', 'team', 'own', 'chat'].entries()) await send(n, route);
    const waiting = await until(async () => {
      const all = await listApprovals(store);
      return all.length === 4 && all;
    });
    assert.deepEqual(waiting.map(receiverOf), [
      `telegram ${origin} chat_id=-77`,
      `mattermost ${origin}`,
      `http ${origin}/own`,
      `telegram ${origin} chat_id=-77`,
    ]);
    const change = async (...now: Parameters<typeof yaml>): Promise<void> => {
      const { table } = await compileText(yaml(...now), { home, env });
      await service.swap(table ?? assert.fail());
    };
    Object.assign(env, { CHANNEL: '-88', HOOK: `${origin}/hooks/other` });
    await change('', 'evil');
    assert.equal(await approved(service, waiting[0]), 'done: null');
    assert.equal(got.length, 1);
    assert.match(got[0] ?? '', /sendMessage .*"chat_id":-77,/);
    const answer = { approve: true, by: 'ann', reason: null };
    await assert.rejects(
      answerApproval(store, waiting[1]?.id ?? '', answer, Date.now(), service.place),
      /\bmattermost http:/,
    );
    assert.equal((await listApprovals(store)).length, 3);
    assert.match(await approved(service, waiting[1]), /^dead: mattermost: .*http:\/\/127/);
    assert.match(await approved(service, waiting[2]), /^dead: http: /);
    await change('/elsewhere', 'evil');
    assert.match(await approved(service, waiting[3]), /^dead: telegram: /);
    assert.equal(got.length, 1);
    const { place } = service.place('default', 'http') ?? {};
    assert.ok(place);
    assert.deepEqual(destinationInTable(service.table)('default', 'http'), { place, home: null });
    const job = manualDispatch(
      [...listJobs(service.table, [], 'UTC').values()][0] ?? assert.fail(),
      { ...service.table, place: service.place },
      { id: 'x', now: 0 },
    );
    assert.deepEqual(job.deliveries[0]?.extra, { chat_id: '-88' });
  });
});

describe('a message to a custom service', () => {
  it('is bound to the references of its headers, not to their values', async () => {
    const placeOf = async (header: string, env: Record<string, string>) => {
      const yaml = `platforms: { webhook: { enabled: true, secret: env:A, routes: { r: { prompt: x } } }, http: { enabled: true, url: "https://a.example/x", headers: { X-Project: "${header}" } } }`;
      const { table } = await compileText(yaml, { home: '/none', env });
      return destinationInTable(table ?? assert.fail())('default', 'http')?.place ?? assert.fail();
    };
    const first = await placeOf('env:A', { A: SECRET, B: SECRET });
    assert.deepEqual(await placeOf('env:A', { A: `${SECRET}2`, B: SECRET }), first);
    const others = [await placeOf('env:B', { A: SECRET, B: SECRET }), await placeOf('ops', { A: SECRET })];
    for (const { digest, headers } of others) {
      assert.equal(digest, first.digest);
      assert.notEqual(headers, first.headers);
    }
  });

  it('is shown with its address, and is not sent if the address changes', async (t) => {
    const { got, origin } = await listen(t);
    const yaml = (path: string): string => `
platforms:
  http: { enabled: true, url: "${origin}${path}?of=k3y", allow_http: true, allow_private: true }
  webhook:
    enabled: true
    secret: env:SECRET
    routes: { review: { agent: none, prompt: "{n}", deliver: http, deliver_extra: { number: "{n}" }, approve: true } }
gateway: { approvals: { deliver: local } }
`;
    const home = tempDir(t);
    const { send, store, service } = await serve(t, home, yaml('/one/{number}'));
    for (const n of [1, 2]) await send(n);
    const waiting = await until(async () => {
      const all = await listApprovals(store);
      return all.length === 2 && all;
    });
    assert.equal(receiverOf(waiting[0] ?? assert.fail()), `http ${origin}/one/{number} number=1`);
    await until(async () => (await ownMessages(store)).filter((text) => text.includes('needs your')).length === 2);
    const notice = (await ownMessages(store))[0] ?? '';
    assert.ok(notice.includes(`\nto http ${origin}/one/{number} number=`) && !notice.includes('k3y'), notice);

    const approve = (n: number): Promise<string> => approved(service, waiting[n]);
    assert.equal(await approve(0), 'done: null');
    assert.deepEqual(got, ['/one/1?of=k3y']);
    const { table } = await compileText(yaml('/two/{number}'), { home, env: { SECRET } });
    await service.swap(table ?? assert.fail());
    assert.match(await approve(1), /^dead: http: .*\/one\/\{number\}$/);
    assert.deepEqual(got, ['/one/1?of=k3y']);

    // A new event is shown with the new address.
    await send(2);
    const [again] = await until(async () => {
      const all = await listApprovals(store);
      return all.length === 1 && all;
    });
    assert.equal(again?.url, `${origin}/two/{number}`);
    assert.notEqual(again?.id, waiting[1]?.id);
  });
});

describe('a notice', () => {
  const approval: Approval = {
    ...{
      id: 'a-0-12345678',
      state: 'waiting',
      profile: 'default',
      route: 'r',
      job: null,
      event: 'push',
      target: 'slack',
    },
    ...{
      url: null,
      address: { chat_id: 'C1\nhookwright approvals approve evil' },
      output: 'page',
      content: { labels: ['x\u2028y'] },
    },
    ...{ text: 'one\r\nhookwright approvals approve evil\u2028two', since: 0, expires_at: 0, answer: null },
  };

  it('has no line of the message that looks like one of the gateway', () => {
    const lines = noticeText(approval, 'http://localhost:8645').split(/[\n\u2028]/);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('hookwright approvals')),
      ['hookwright approvals approve a-0-12345678', 'hookwright approvals reject a-0-12345678'],
    );
    assert.equal(lines.at(-1), 'http://localhost:8645/#/approvals/a-0-12345678');
  });

  it('has the fields of an output where lines of the text cannot imitate them', () => {
    const notice = noticeText({ ...approval, content: { state: 'success' }, text: 'x\nwith state: "failed"' }, null);
    assert.deepEqual(
      notice.split('\n').filter((line) => line.includes('state')),
      ['with state: "success"', '> with state: "failed"'],
    );
  });

  it('shows invisible characters, and warns about them', () => {
    const text = 'pay \u202e0001\u202c to \u200bbob\u{e0041}\t\u2764\ufe0f';
    const notice = noticeText({ ...approval, address: { to: '\u2066x' }, content: { title: 'a\u00adb' }, text }, null);
    assert.ok(notice.includes('> pay \\u202e0001\\u202c to \\u200bbob\\u{e0041}\t\u2764\ufe0f\n'), notice);
    assert.ok(notice.includes('\nwith title: "a\\u00adb"\n'), notice);
    assert.ok(notice.includes('to slack (page) to="\\u2066x"\n'), notice);
    assert.match(notice, /\n.*\b5\b.*$/m);
    assert.ok(
      !noticeText({ ...approval, content: {}, text: 'a\r\nb \u{1f468}\u200d\u{1f4bb}' }, null).includes('not seen'),
    );
  });
});
