/** Loops: an agent on a code host does not answer itself forever, and two agents do not answer each other forever. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { MARKER_START, markerOf } from '../../../runtime/table/link-loop.ts';
import type { Comment } from '../../helpers/code-host.ts';
import { CodeHost } from '../../helpers/code-host.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const config = (route = '', target = ''): string => `
platforms:
  webhook:
    enabled: true
    secret: env:SECRET
    routes:
      answers:
        source: github
        events: [issue_comment]
        prompt: "Answer: {comment.body}"
        deliver: github_comment
        deliver_extra: { repo: "{repository.full_name}", pr_number: "{issue.number}" }
${route}
  github_comment:
    enabled: true
    token: env:GH_TOKEN
    command: gh
${target}
`;

/** Removes the marker. */
const stripped = (comment: Comment): Comment => ({ ...comment, body: comment.body.replace(/<!--.*?-->/g, '').trim() });

const marked = ({ body }: Comment): boolean => body.includes(MARKER_START);

async function loopOf(
  t: TestContext,
  yaml: string,
  onPost: (comment: Comment) => Comment,
): Promise<CodeHost & { runs: number }> {
  const host = new CodeHost();
  host.onPost = onPost;
  const { runs } = await host.addGateway(t, yaml, 'our-bot');
  host.write({});
  await host.quiet();
  return Object.assign(host, { runs: runs.length });
}

describe('a comment of the gateway that the code host sends back', () => {
  const WAYS: Readonly<Record<string, (comment: Comment) => Comment>> = {
    'as the same user': (comment) => comment,
    'as another bot': (comment) => ({ ...comment, login: 'relay[bot]' }),
    quoted: (comment) => ({ ...comment, login: 'bob', body: comment.body.replace(/^/gm, '> ') }),
    'in a reply': (comment) => ({ ...comment, login: 'bob', body: `${comment.body}\n\nI disagree.` }),
  };
  for (const [name, onPost] of Object.entries(WAYS)) {
    it(`is ignored ${name}`, async (t) => {
      const host = await loopOf(t, config(), onPost);
      assert.equal(host.runs, 1);
      assert.ok(host.comments[1] !== undefined && marked(host.comments[1]));
      assert.deepEqual(host.answers.at(-1)?.body, {
        ...{ status: 'ignored', reason: 'loop', route: 'answers', event: 'issue_comment' },
      });
    });
  }

  it('is ignored without a marker if the config says as whom the gateway posts', async (t) => {
    assert.equal((await loopOf(t, config('', '    login: Our-Bot'), stripped)).runs, 1);
  });

  it('runs at most loop_limit times without a marker, and others are not affected', async (t) => {
    const host = await loopOf(t, config('        loop_limit: 4'), stripped);
    // The code host says that a user posts, whose events may cause three times as many runs.
    assert.equal(host.runs, 12);
    // The last one waits for a person, or the end of the pause.
    assert.deepEqual(host.answers.at(-1)?.body.status, 'accepted');
    host.onPost = (comment) => comment;
    host.write({ number: 8 });
    await host.quiet();
    assert.deepEqual(
      host.answers.slice(-2).map(({ status, body }) => [status, body.reason]),
      [
        [202, undefined],
        [200, 'loop'],
      ],
    );
  });

  it('is accepted by a route that allows its own events, up to its limit', async (t) => {
    const route = '        allow_own_events: true\n        loop_limit: 4';
    assert.equal((await loopOf(t, config(route), (comment) => comment)).runs, 12);
  });

  it('a marker in the text of an issue has no effect, so strangers cannot silence a discussion', async (t) => {
    const host = new CodeHost();
    const { runs } = await host.addGateway(t, config().replace('{comment.body}', '{issue.body}'), 'our-bot');
    host.write({});
    await host.quiet();
    const [, answer] = host.comments;
    host.write({ number: 9, body: `A copy: ${answer?.body}` });
    await host.quiet();
    assert.equal(runs.length, 1);
    host.write({ number: 9, body: 'Without a copy' });
    await host.quiet();
    assert.equal(runs.length, 2);
  });
});

describe('two gateways that answer each other', () => {
  it('stop after three exchanges each, and still answer people', async (t) => {
    const host = new CodeHost();
    const filters = (other: string): string => `        filters: [{ field: sender.login, in: [alice, ${other}] }]`;
    const one = await host.addGateway(t, config(filters('two')), 'one');
    const two = await host.addGateway(t, config(filters('one').replace('alice', 'no-one')), 'two');
    host.write({});
    await host.quiet();
    assert.ok(one.runs.length + two.runs.length <= 7, `${one.runs.length} and ${two.runs.length} runs`);
    assert.ok(one.runs.length >= 2);
    host.write({ body: 'And me?' });
    await host.quiet();
    assert.ok(one.runs.at(-1)?.includes('And me?'));
  });
});

describe('explain', () => {
  it('detects an exchange with another hookwright, and its limit', async (t) => {
    const secret = 'the-secret-of-a-route-2';
    const yaml = `platforms: { webhook: { enabled: true, secret: ${secret}, routes: { talk: { prompt: "{comment.body}", session_key: room } } } }`;
    const { url, cli } = await startGateway(t, { home: tempDir(t), config: yaml });
    const body = JSON.stringify({ room: 'a', comment: { body: `Hello ${markerOf('f'.repeat(20), 'x')}` } });
    for (let n = 0; n <= 3; n++) {
      const found = JSON.parse((await cli('explain', 'talk', '--json', '--payload', body)).stdout);
      assert.equal(found.warnings.length, 1);
      const answer = await sendAgain(`${url}/webhooks/talk`, { method: 'POST', body, headers: signed(body, secret) });
      const { status, reason = null } = (await answer.json()) as { status: string; reason?: string };
      assert.deepEqual([found.outcome, found.reason], [status, reason]);
      assert.equal(status, n < 3 ? 'accepted' : 'ignored');
    }
  });
});

describe('a session key with too many runs', () => {
  const SECRET = 'the-secret-of-a-route-1';
  const YAML = `
gateway: { alerts: { deliver: local } }
platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    routes:
      talk: { prompt: "{text}", session_key: "{room}", coalesce: { key: person, window_seconds: 0.01 }, loop_limit: 2 }
`;

  it('is paused with one alert, and released by an operator; other keys are not affected', async (t) => {
    const { url, cli } = await startGateway(t, { home: tempDir(t), config: YAML });
    let sent = 0;
    const say = async (room: string): Promise<string> => {
      // Another person each time: runs are counted by session.
      const body = JSON.stringify({ room, text: 'Hello', person: ++sent });
      const answer = await sendAgain(`${url}/webhooks/talk`, { method: 'POST', body, headers: signed(body, SECRET) });
      const { status, reason } = (await answer.json()) as { status: string; reason?: string };
      return reason ?? status;
    };
    interface Row {
      readonly id: string;
      readonly event: string;
      readonly state: string;
      readonly reason: string | null;
    }
    const list = async (): Promise<readonly Row[]> =>
      JSON.parse((await cli('deliveries', 'list', '--all', '--json')).stdout);
    const alerts = async () => (await list()).filter(({ event }) => event === 'alert');
    /** The newest first. */
    const ended = async () => (await list()).filter(({ event, state }) => event !== 'alert' && state !== 'pending');
    assert.deepEqual(await Promise.all(['a', 'a'].map(say)), ['coalesced', 'coalesced']);
    assert.deepEqual(await Promise.all(['a', 'a', 'b', 'a'].map(say)), Array(4).fill('coalesced'));
    const [alert] = await until(async () => ((await alerts()).length > 0 ? alerts() : null));
    const { stdout } = await cli('deliveries', 'show', alert?.id ?? '', '--full');
    assert.match(stdout, /: route talk a\n/);
    const explained = async (room: string): Promise<readonly unknown[]> => {
      const { stdout, code } = await cli('explain', 'talk', '--json', '--payload', JSON.stringify({ room, person: 0 }));
      const { outcome, reason } = JSON.parse(stdout);
      return [code, outcome, reason];
    };
    assert.deepEqual(await explained('a'), [0, 'coalesced', null]);
    assert.deepEqual(await explained('b'), [0, 'coalesced', null]);
    const paused = JSON.parse((await cli('gateway', 'loops', 'list', '--json')).stdout);
    assert.deepEqual([paused.length, paused[0].name, paused[0].route, paused[0].held], [1, 'a', 'talk', 3]);
    assert.equal((await ended()).length, 3);
    assert.equal((await alerts()).length, 1);
    assert.match((await cli('gateway', 'loops', 'release', 'a')).stdout, /^a\b.*\btalk\b.*\b3\b/);
    await until(async () => ((await ended()).length === 6 ? true : null));
    assert.deepEqual(await Promise.all(['a', 'a', 'a', 'a'].map(say)), Array(4).fill('coalesced'));
    await until(async () => ((await ended()).length === 8 ? true : null));
    assert.match((await cli('gateway', 'loops', 'release', paused[0].id, '--drop')).stdout, /^a\b.*\btalk\b.*\b2\b/);
    assert.deepEqual(
      (await ended()).slice(0, 2).map(({ state, reason }) => [state, reason]),
      Array(2).fill(['skipped', 'loop']),
    );
    // It ends after a quiet hour.
    assert.equal((await alerts()).length, 1);
  });

  it('is paused for all routes that share its scope, each by its own limit, and for no other', async (t) => {
    const route = (name: string, limit: number): string =>
      `      ${name}: { prompt: "{text}", session_key: "{room}", session_scope: rooms, loop_limit: ${limit} }`;
    const config = `
platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    routes:
${route('talk', 3)}
${route('whisper', 2)}
      alone: { prompt: "{text}", session_key: "{room}", loop_limit: 2 }
`;
    const { url, cli } = await startGateway(t, { home: tempDir(t), config });
    const say = async (name: string, room: string): Promise<string> => {
      const body = JSON.stringify({ room, text: 'Hello' });
      const answer = await sendAgain(`${url}/webhooks/${name}`, {
        method: 'POST',
        body,
        headers: signed(body, SECRET),
      });
      const { status, reason } = (await answer.json()) as { status: string; reason?: string };
      return reason ?? status;
    };
    const said: string[] = [];
    for (const name of ['talk', 'alone', 'whisper', 'whisper', 'talk', 'alone']) said.push(await say(name, 'a'));
    assert.deepEqual(said, Array(6).fill('accepted'));
    assert.equal(await say('talk', 'b'), 'accepted');
    assert.match((await cli('gateway', 'loops', 'list')).stdout, /\b2 +rooms:a\n/);
    assert.match((await cli('gateway', 'loops', 'release', 'rooms:a')).stdout, /^rooms:a /);
    assert.equal(await say('whisper', 'a'), 'accepted');
  });
});
