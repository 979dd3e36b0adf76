/** The progress of events, shown at their objects on doubles of GitHub and Slack. */
import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { storeReplays } from '../../../cli/deliveries/filter.ts';
import { compileText } from '../../../main/compiler.ts';
import { answerApproval, listApprovals } from '../../../modules/outputs/runtime/approvals.ts';
import type { AgentRequest } from '../../../runtime/dispatch/agent-runner.ts';
import type { OperatedService } from '../../../runtime/service/options.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { FakeGitHub } from '../../helpers/fake-github.ts';
import type { FakeAnswer } from '../../helpers/fake-http.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { FastClock } from '../../helpers/fast-clock.ts';
import { until } from '../../helpers/gateway.ts';
import { recordLog } from '../../helpers/log.ts';
import { createService } from '../../helpers/operated-service.ts';
import { handleAgain } from '../../helpers/send-again.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'a-secret-of-the-code-host';
const REPO = 'octo-org/shop';
const SHA = '6dcb09b5b57875f334f61aebed695e2e4193db5e';
const PULL = `${REPO}/issues/7`;
/** Not more, so that a request still has a second to be answered. */
const HURRY = 10;

const config = (api: string, route: string): string => `
platforms:
  webhook:
    enabled: true
    secret: env:SECRET
    routes:
      pulls:
        source: github
        prompt: "{number}"
        ${route}
  github: { enabled: true, token: env:TOKEN, api_base: "${api}" }
  telegram: { enabled: true, token: env:TOKEN, api_base: "${api}", home_channel: "1" }
`;

interface Options {
  /** Default: a new one, with a store in memory, which needs no threads. */
  readonly home?: string;
  readonly clock?: FastClock;
}

/** A gateway whose agent answers when the test says so; a text that starts with `!` is a failure. */
async function gateway(t: TestContext, yaml: string, options: Options = {}) {
  const { home = tempDir(t), clock = new FastClock(Date.UTC(2026, 0, 1)) } = options;
  const store = options.home === undefined ? ':memory:' : undefined;
  const env = { SECRET, TOKEN: 'ghp_canary0001' };
  const { table, diagnostics } = await compileText(yaml, { home, env });
  assert.ok(table !== null, diagnostics.map(({ message }) => message).join('\n'));
  const runs: { readonly prompt: string; readonly answer: (text: string) => void }[] = [];
  const log = recordLog();
  const service = await createService({
    ...{ table, home, store, env, log, clock },
    agent: ({ prompt, signal }: AgentRequest) =>
      new Promise<string>((resolve, reject) => {
        const answer = (text: string): void => (text.startsWith('!') ? reject(new Error(text)) : resolve(text));
        runs.push({ prompt, answer });
        signal.addEventListener('abort', () => reject(new Error('stopped')));
      }),
  });
  atEnd(t, () => service.stop({ drainMs: 0 }));
  service.start();
  return { service, log, runs, clock, home };
}

async function setUp(t: TestContext, route: string, options: Options = {}) {
  const github = await new FakeGitHub().start(t);
  github.tokens.set('ghp_canary0001', 'our-bot');
  const yaml = config(github.url, route);
  return { github, yaml, ...(await gateway(t, yaml, options)) };
}

let sent = 0;
async function send(
  service: Pick<OperatedService, 'handle'>,
  payload: Record<string, unknown> = {},
  event = 'pull_request',
): Promise<string> {
  const pull_request = { number: 7, head: { sha: SHA } };
  const body = JSON.stringify({ number: 7, pull_request, repository: { full_name: REPO }, ...payload });
  const headers = {
    'content-type': 'application/json',
    'x-github-event': event,
    'x-github-delivery': `delivery-${++sent}`,
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
  };
  const response = await handleAgain(
    service,
    new Request('http://x/webhooks/pulls', { method: 'POST', body, headers }),
  );
  return ((await response.json()) as { status: string }).status;
}

const marksAt = (github: FakeGitHub, object = PULL): readonly string[] =>
  (github.reactions.get(object) ?? []).filter(({ login }) => login === 'our-bot').map(({ content }) => content);
const shows = (github: FakeGitHub, mark: string, object = PULL) =>
  until(async () => marksAt(github, object).join() === mark);

describe('a reaction', { concurrency: 4 }, () => {
  test('follows the run; the new one is set before the old one is removed, and others stay', async (t) => {
    const { github, service, runs } = await setUp(t, 'progress: reaction');
    github.reactions.set(PULL, [
      { id: 900, content: 'eyes', login: 'alice' },
      { id: 901, content: 'hooray', login: 'our-bot' },
    ]);
    assert.equal(await send(service), 'accepted');
    await until(async () => runs.length === 1 && marksAt(github).includes('rocket') && marksAt(github).length === 2);
    runs[0]?.answer('fine');
    await until(async () => marksAt(github).join() === 'hooray,+1');
    assert.deepEqual(
      github.reactions.get(PULL)?.map(({ content, login }) => `${login} ${content}`),
      ['alice eyes', 'our-bot hooray', 'our-bot +1'],
    );
    const last = github.reacted.map((change) => change.split(' ')[0]);
    assert.deepEqual(
      last.slice(-2),
      ['+1', '-rocket'].map((each) => (each === '+1' ? '++1' : each)),
    );
    await until(async () => (await service.store.read({ kind: 'guard_rows', of: 'progress' })).length === 0);
  });

  test('says that a run failed, waits for approval, or was superseded', async (t) => {
    const approval = 'progress: reaction\n        deliver: telegram\n        approve: true';
    const { github, service, runs } = await setUp(t, approval);
    await send(service);
    await until(async () => runs.length === 1);
    runs[0]?.answer('to be approved');
    await shows(github, 'confused');
    const [asked] = await listApprovals(service.store);
    await answerApproval(
      service.store,
      asked?.id ?? '',
      { approve: false, by: 'ann', reason: 'no' },
      (asked?.since ?? 0) + 1,
    );
    service.changed();
    await shows(github, '-1');
    await send(service, { issue: { number: 8 }, pull_request: undefined, comment: { id: 44 } }, 'issue_comment');
    await until(async () => runs.length === 2);
    await shows(github, 'rocket', `${REPO}/issues/comments/44`);
    runs[1]?.answer('!broken');
    await shows(github, '-1', `${REPO}/issues/comments/44`);
    assert.deepEqual(marksAt(github, `${REPO}/issues/8`), []);
  });

  test('of an object shows its newest event, whatever earlier ones become', async (t) => {
    const { github, service, runs } = await setUp(t, 'progress: reaction');
    await send(service);
    await send(service);
    await until(async () => runs.length === 2);
    runs[0]?.answer('!the first fails');
    runs[1]?.answer('done');
    await shows(github, '+1');
    await until(async () => (await service.store.read({ kind: 'guard_rows', of: 'progress' })).length === 0);
    await shows(github, '+1');
  });

  test('of an object shows its newest event also if an earlier one ends after a restart', async (t) => {
    const { github, service, runs, home, yaml } = await setUp(t, 'progress: reaction', { home: tempDir(t) });
    await send(service, { number: 1 });
    await send(service, { number: 2 });
    await until(async () => runs.length === 2);
    runs.find(({ prompt }) => prompt === '2')?.answer('done');
    await shows(github, '+1');
    await service.stop({ drainMs: 0 });
    const again = await gateway(t, yaml, { home });
    await until(async () => again.runs.length === 1);
    assert.equal(again.runs[0]?.prompt, '1');
    again.runs[0]?.answer('!the first fails');
    again.clock.rush(HURRY);
    await until(async () => (await again.service.store.read({ kind: 'guard_rows', of: 'progress' })).length === 0);
    assert.deepEqual(marksAt(github), ['+1']);
    assert.ok(!github.reacted.some((change) => change.includes('-1 ')), github.reacted.join());
  });

  test('of a comment whose run a newer event of the session ends is `superseded`', async (t) => {
    const { github, service, runs, clock } = await setUp(
      t,
      'progress: reaction\n        session: { key: "{issue.number}", on_newer: cancel }',
    );
    for (const id of [1, 2]) {
      const payload = { number: id, issue: { number: 7 }, pull_request: undefined, comment: { id } };
      await send(service, payload, 'issue_comment');
    }
    clock.rush(HURRY);
    await shows(github, 'heart', `${REPO}/issues/comments/1`);
    // The first run may have started before it was ended.
    const second = await until(async () => runs.find(({ prompt }) => prompt === '2'));
    second.answer('fine');
    await shows(github, '+1', `${REPO}/issues/comments/2`);
  });

  test('of a coalesce group is the one of its last event', async (t) => {
    const { github, service, runs, clock } = await setUp(
      t,
      'progress: reaction\n        coalesce: { key: "{issue.number}", window_seconds: 1 }',
    );
    for (const id of [1, 2])
      await send(service, { issue: { number: 7 }, pull_request: undefined, comment: { id } }, 'issue_comment');
    await shows(github, 'eyes', `${REPO}/issues/comments/2`);
    clock.rush(HURRY);
    await until(async () => runs.length === 1);
    runs[0]?.answer('fine');
    await shows(github, '+1', `${REPO}/issues/comments/2`);
    await shows(github, 'heart', `${REPO}/issues/comments/1`);
  });

  test('neither delays nor fails an event of a host that is down, and is there once the host is back', async (t) => {
    const { github, service, runs, log, clock } = await setUp(t, 'progress: reaction');
    let isDown = true;
    const down = (): 'drop' => 'drop';
    const keep = () => {
      if (isDown) github.next.push((_, usual) => (isDown ? down() : usual()));
    };
    for (let n = 0; n < 200; n++) keep();
    await send(service);
    await until(async () => runs.length === 1);
    runs[0]?.answer('fine');
    await until(async () => {
      const [row] = await service.store.read({ kind: 'list', filter: { limit: 1 } });
      return row?.state === 'done';
    });
    await until(async () => log.lines.some(({ message }) => message === 'could not show the progress of an event'));
    isDown = false;
    clock.rush(HURRY);
    await shows(github, '+1');
    const warnings = log.lines.filter(({ message }) => message === 'could not show the progress of an event');
    assert.deepEqual(
      warnings.map(({ level, fields }) => [level, fields.target]),
      [['warn', 'github_reaction']],
    );
    assert.doesNotMatch(JSON.stringify(log.lines), /canary/);
  });

  test('follows replays: of a failed run, and of an answer that was not delivered', async (t) => {
    let isRefused = true;
    const telegram = await startFakeHttp(t, (): FakeAnswer => {
      if (isRefused) return { status: 403, body: { ok: false, error_code: 403, description: 'Forbidden: kicked' } };
      return { body: { ok: true, result: { message_id: 1 } } };
    });
    const github = await new FakeGitHub().start(t);
    github.tokens.set('ghp_canary0001', 'our-bot');
    const yaml = config(github.url, 'progress: reaction\n        deliver: telegram').replace(
      /(telegram: .*api_base: )"[^"]*"/,
      `$1"${telegram.url}", allow_http: true`,
    );
    const { service, runs, clock } = await gateway(t, yaml);
    const replayed = async (state: 'dead' | 'done'): Promise<string> => {
      const newest = async () => (await service.store.read({ kind: 'list', filter: { limit: 1 } }))[0];
      const row = await until(async () => (await newest())?.state === state && newest());
      const options = { clock, random: randomBytes, rerun: false, again: false, dryRun: false, onProgress: () => {} };
      const { done, refused } = await storeReplays(service.store, [row?.id ?? ''], options);
      assert.deepEqual(refused, []);
      service.changed();
      return done[0]?.replay_of === null ? 'sent again' : 'run again';
    };
    await send(service);
    await until(async () => runs.length === 1);
    runs[0]?.answer('!broken');
    await shows(github, '-1');
    assert.equal(await replayed('dead'), 'run again');
    await until(async () => runs.length === 2);
    await shows(github, 'rocket');
    runs[1]?.answer('fine');
    await shows(github, '-1');
    isRefused = false;
    assert.equal(await replayed('dead'), 'sent again');
    await shows(github, '+1');
    assert.equal(runs.length, 2);
    clock.rush(HURRY);
    await until(async () => (await service.store.read({ kind: 'guard_rows', of: 'progress' })).length === 0);
    assert.deepEqual(marksAt(github), ['+1']);
  });

  test('is not sent again, with one warning, if the service refuses it', async (t) => {
    const { github, service, runs, log } = await setUp(t, 'progress: reaction');
    github.tokens.clear();
    await send(service);
    await until(async () => runs.length === 1);
    runs[0]?.answer('fine');
    await until(async () => log.lines.some(({ message }) => message === 'could not show the progress of an event'));
    await until(async () => (await service.store.read({ kind: 'guard_rows', of: 'progress' })).length === 0);
    assert.equal(log.lines.filter(({ level }) => level === 'warn').length, 1);
  });

  test('is brought up to date after a start, also for an event that ended before', async (t) => {
    const { github, service, runs, home, yaml } = await setUp(t, 'progress: reaction', { home: tempDir(t) });
    await send(service);
    await until(async () => runs.length === 1);
    await shows(github, 'rocket');
    // The host is down while the run ends, and when the gateway stops.
    for (let n = 0; n < 50; n++) github.next.push(() => 'drop');
    runs[0]?.answer('fine');
    await until(async () => (await service.store.read({ kind: 'list', filter: { limit: 1 } }))[0]?.state === 'done');
    await service.stop({ drainMs: 1000 });
    assert.deepEqual(marksAt(github), ['rocket']);
    github.next.length = 0;
    const again = await gateway(t, yaml, { home });
    await shows(github, '+1');
    await until(async () => (await again.service.store.read({ kind: 'guard_rows', of: 'progress' })).length === 0);
  });

  test('is not set for an event without such an object, nor by the gateway about itself', async (t) => {
    const { github, service, runs } = await setUp(t, 'progress: reaction');
    assert.equal(await send(service, { pull_request: undefined, ref: 'x' }, 'push'), 'accepted');
    const own = { sender: { login: 'our-bot', type: 'Bot' } };
    await until(async () => (await send(service, own)) === 'ignored');
    await until(async () => runs.length >= 1);
    assert.equal(github.reactions.size <= 1, true);
  });

  test('ignores addresses that a payload bends', async (t) => {
    const { github, service, log } = await setUp(t, 'progress: reaction');
    await send(service, { pull_request: { number: '7/../../../../user' } });
    await until(async () => log.lines.some(({ message }) => message === 'could not show the progress of an event'));
    assert.equal(github.server.seen.filter(({ method }) => method === 'POST').length, 0);
  });
});

describe('a status and a comment', () => {
  test('a status of the commit is replaced', async (t) => {
    const { github, service, runs } = await setUp(t, 'progress: status');
    await send(service);
    await until(async () => github.statuses.get(`${SHA} hookwright/pulls`)?.description === 'Running');
    runs[0]?.answer('fine');
    await until(async () => github.statuses.get(`${SHA} hookwright/pulls`)?.state === 'success');
    assert.equal(github.statuses.size, 1);
  });

  test('a comment is updated, also by the next event', async (t) => {
    const { github, service, runs } = await setUp(t, 'progress: comment');
    for (const text of ['fine', '!broken']) {
      await send(service);
      await until(async () => /running/.test(github.posts[0]?.body ?? ''));
      runs.at(-1)?.answer(text);
      await until(async () => (text === 'fine' ? /done/ : /failed/).test(github.posts[0]?.body ?? ''));
    }
    assert.equal(github.posts.length, 1);
  });
});

describe('GitLab', () => {
  test('shows one reaction of the account at the merge request beside those of others', async (t) => {
    const awards = [{ id: 1, name: 'eyes', user: { username: 'alice' } }];
    const gitlab = await startFakeHttp(t, ({ method, path, query, headers }): FakeAnswer => {
      if (headers['private-token'] !== 'ghp_canary0001') return { status: 401, body: {} };
      if (path === '/user') return { body: { username: 'our-bot' } };
      const [, id] = /^\/projects\/12\/merge_requests\/7\/award_emoji(?:\/(\d+))?$/.exec(path) ?? [''];
      if (id === undefined && method === 'DELETE') return { status: 404, body: {} };
      if (method === 'GET') return { body: awards };
      if (method === 'DELETE') {
        const index = awards.findIndex((award) => String(award.id) === id && award.user.username === 'our-bot');
        return index >= 0 && awards.splice(index, 1).length === 1 ? { status: 204 } : { status: 403, body: {} };
      }
      const name = query.get('name') ?? '';
      if (awards.some((award) => award.name === name && award.user.username === 'our-bot'))
        return { status: 404, body: { message: '404 Award Emoji Name has already been taken Not Found' } };
      const award = { id: awards.length + 10, name, user: { username: 'our-bot' } };
      awards.push(award);
      return { status: 201, body: award };
    });
    const yaml = `
platforms:
  webhook:
    enabled: true
    secret: env:SECRET
    routes:
      pulls: { source: gitlab, prompt: "{object_attributes.iid}", progress: reaction }
  gitlab: { enabled: true, token: env:TOKEN, api_base: "${gitlab.url}" }
`;
    const { service, runs } = await gateway(t, yaml);
    const object_attributes = { iid: 7, target_project_id: 12, action: 'open' };
    const body = JSON.stringify({ object_kind: 'merge_request', project: { id: 12 }, object_attributes });
    const headers = {
      'content-type': 'application/json',
      'x-gitlab-token': SECRET,
      'x-gitlab-event': 'Merge Request Hook',
    };
    await handleAgain(service, new Request('http://x/webhooks/pulls', { method: 'POST', body, headers }));
    const shown = () => awards.map(({ name, user }) => `${user.username} ${name}`).join();
    await until(async () => runs.length === 1 && shown() === 'alice eyes,our-bot hourglass_flowing_sand');
    runs[0]?.answer('fine');
    await until(async () => shown() === 'alice eyes,our-bot white_check_mark');
  });
});

let slackEvents = 0;
/** Sends an event as Slack does. */
async function sendSlack(service: Pick<OperatedService, 'handle'>, clock: FastClock, event: Record<string, unknown>) {
  const body = JSON.stringify({ event_id: `e${++slackEvents}`, event });
  const time = Math.floor(clock.now() / 1000);
  const signature = createHmac('sha256', SECRET).update(`v0:${time}:${body}`).digest('hex');
  const headers = {
    'content-type': 'application/json',
    'x-slack-request-timestamp': String(time),
    'x-slack-signature': `v0=${signature}`,
  };
  await handleAgain(service, new Request('http://x/webhooks/pulls', { method: 'POST', body, headers }));
}

describe('Slack', () => {
  test('reports reactions of the bot itself, which start no run, and those of people', async (t) => {
    const slack = await startFakeHttp(t, ({ path, headers }): FakeAnswer => {
      const isOurs = path === '/auth.test' && headers.authorization === 'Bearer ghp_canary0001';
      return { body: isOurs ? { ok: true, user_id: 'U0BOT', team_id: 'T1' } : { ok: false, error: 'invalid_auth' } };
    });
    const yaml = `
platforms:
  webhook:
    enabled: true
    secret: env:SECRET
    routes:
      pulls: { source: slack, events: [reaction_added, reaction_removed], prompt: "{event.user}" }
  slack: { enabled: true, token: env:TOKEN, api_base: "${slack.url}" }
`;
    const { service, runs, clock } = await gateway(t, yaml, { clock: new FastClock(Date.now()) });
    await until(async () => slack.seen.some(({ path }) => path === '/auth.test'));
    const react = (type: string, user: string) => sendSlack(service, clock, { type, user, item: { channel: 'C1' } });
    const stored = async () => (await service.store.read({ kind: 'list', filter: { limit: 1000 } })).length;
    const isIgnored = async (type: string, user: string): Promise<boolean> => {
      const before = await stored();
      await react(type, user);
      return (await stored()) === before;
    };
    // The first ones may arrive before Slack has said who the bot is.
    await until(() => isIgnored('reaction_added', 'U0BOT'));
    assert.equal(await isIgnored('reaction_removed', 'U0BOT'), true);
    assert.equal(await isIgnored('reaction_added', 'U0HUMAN'), false);
    await until(async () => runs.some(({ prompt }) => prompt === 'U0HUMAN'));
  });

  test('shows one reaction of the bot at the message', async (t) => {
    const reactions: string[] = [];
    const changes: string[] = [];
    const slack = await startFakeHttp(t, ({ path, json, query }): FakeAnswer => {
      const { name = '', channel, timestamp } = (json ?? {}) as Record<string, string>;
      const at = path === '/reactions.get' ? [query.get('channel'), query.get('timestamp')] : [channel, timestamp];
      if (at.join() !== 'C1,17.1') return { body: { ok: false, error: 'message_not_found' } };
      if (path === '/reactions.get')
        return { body: { ok: true, message: { reactions: reactions.map((each) => ({ name: each, users: ['U1'] })) } } };
      const isThere = reactions.includes(name);
      changes.push(`${path.slice('/reactions.'.length)} ${name}`);
      if (path === '/reactions.add') {
        if (isThere) return { body: { ok: false, error: 'already_reacted' } };
        reactions.push(name);
      } else {
        if (!isThere) return { body: { ok: false, error: 'no_reaction' } };
        reactions.splice(reactions.indexOf(name), 1);
      }
      return { body: { ok: true } };
    });
    const yaml = `
platforms:
  webhook:
    enabled: true
    secret: env:SECRET
    routes:
      pulls: { source: slack, events: [app_mention], prompt: "{event.text}", progress: reaction }
  slack: { enabled: true, token: env:TOKEN, api_base: "${slack.url}" }
`;
    const { service, runs, clock } = await gateway(t, yaml, { clock: new FastClock(Date.now()) });
    await sendSlack(service, clock, { type: 'app_mention', channel: 'C1', ts: '17.1', user: 'U2', text: 'hi' });
    await until(async () => runs.length === 1 && reactions.join() === 'hourglass_flowing_sand');
    runs[0]?.answer('fine');
    await until(async () => reactions.join() === 'white_check_mark');
    assert.deepEqual(changes.slice(-2), ['add white_check_mark', 'remove hourglass_flowing_sand']);
  });
});
