/**
 * Reproduces two public reports: an agent that answers its own comments ($140 in six hours), and an agent that answers another bot
 * (995 runs, $210 in twelve hours). A double of the code host sends each comment as an event. The examples are also tested
 * without the settings that they add to the defaults.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { startExample } from '../helpers/example.ts';
import { until } from '../helpers/gateway.ts';

/** Default maximum number of runs for one discussion within ten minutes. */
const LOOP_LIMIT = 10;

interface Comment {
  readonly login: string;
  readonly body: string;
  readonly number?: number;
}

/** @param edit changes the configuration */
async function discussion(t: TestContext, name: string, route: string, edit: (config: string) => string) {
  const programs = {
    ollama: 'cat > /dev/null; echo "I will wait."',
    gh: 'f="$DIR/comment-$$"; cat > "$f.new" && mv "$f.new" "$f.txt"; echo https://github.com/o/r/issues/7#issuecomment-1',
  };
  const { post, dir, cli } = await startExample(t, name, { programs, edit });
  const seen = new Set<string>();
  /** The outcome of a comment's event. */
  const send = async ({ login, body, number = 7 }: Comment): Promise<string> => {
    const answer = await post(route, 'issue_comment', {
      ...{ action: 'created', issue: { number }, repository: { full_name: 'octo/shop' }, sender: { login } },
      comment: { id: 1, body, author_association: 'MEMBER', user: { login } },
    });
    return String(answer.body.reason ?? answer.body.status);
  };
  /** The next comment of the agent; null: there is none. */
  const next = (): string | null => {
    const name = readdirSync(dir).find((each) => each.endsWith('.txt') && !seen.has(each));
    if (name === undefined) return null;
    seen.add(name);
    return readFileSync(join(dir, name), 'utf8');
  };
  const answer = (): Promise<string> => until(async () => next());
  /** The next comment of the agent, or `held`: the key is paused, so the event waits. */
  const answerOrHeld = (): Promise<string> =>
    until(async () => next() ?? ((await pausedKey(cli)).name === undefined ? null : 'held'));
  /** Sends `reply` to each comment of the agent, until the gateway does not accept it, or holds it. */
  const goOn = async (first: Comment, reply: (body: string) => Comment): Promise<string> => {
    let outcome = await send(first);
    while (outcome === 'accepted' && seen.size < 50) {
      const body = await answerOrHeld();
      outcome = body === 'held' ? body : await send(reply(body));
    }
    return outcome;
  };
  return { send, goOn, answer, cli, runs: () => seen.size };
}

const without =
  (...lines: readonly RegExp[]) =>
  (config: string): string =>
    lines.reduce((text, line) => {
      assert.match(text, line);
      return text.replace(line, '');
    }, config);

const FILTER = /^.*not_equals: shop-helper.*\n/m;
const QUESTION: Comment = { login: 'alice', body: 'Why does the build fail?' };
const comesBack = (body: string): Comment => ({ login: 'shop-helper', body });
const stripped = (body: string): Comment => ({ login: 'relay', body: body.replace(/<!--.*?-->/gs, '') });

test('own-comments: answers each question once', async (t) => {
  const { goOn, send, answer, runs } = await discussion(t, 'own-comments', 'answers', (config) => config);
  assert.equal(await goOn(QUESTION, comesBack), 'filter');
  assert.equal(await send(QUESTION), 'accepted');
  await answer();
  assert.equal(runs(), 2);
});

test('own-comments: answers each question once without the filter', async (t) => {
  const { goOn, runs } = await discussion(t, 'own-comments', 'answers', without(FILTER));
  assert.equal(await goOn(QUESTION, comesBack), 'loop');
  assert.equal(runs(), 1);
});

test('own-comments: stops after ten answers if the marker is removed', async (t) => {
  const { goOn, send, runs, answer } = await discussion(t, 'own-comments', 'answers', without(FILTER));
  assert.equal(await goOn(QUESTION, stripped), 'held');
  assert.equal(runs(), LOOP_LIMIT);
  assert.equal(await send({ ...QUESTION, number: 8 }), 'accepted');
  await answer();
});

test('two-bots: pauses after ten runs with one alert, and the next notice does not end the pause', async (t) => {
  const lines = [FILTER, /^.*session_key.*\n/m, /^.*budget.*\n/m];
  const { goOn, send, answer, cli, runs } = await discussion(t, 'two-bots', 'discussion', without(...lines));
  const notice = (): Comment => ({ login: 'reviewer[bot]', body: 'You have reached your daily quota.' });
  assert.equal(await goOn(QUESTION, notice), 'held');
  for (let more = 0; more < 5; more++) assert.equal(await send(notice()), 'accepted');
  assert.equal(runs(), LOOP_LIMIT);
  assert.equal(await send({ ...QUESTION, number: 8 }), 'accepted');
  await answer();
  const alerts = async (): Promise<number> =>
    (JSON.parse((await cli('deliveries', 'list', '--all', '--json')).stdout) as { event: string }[]).filter(
      ({ event }) => event === 'alert',
    ).length;
  await until(async () => (await alerts()) > 0);
  assert.equal(await alerts(), 1);
  const place = 'github_comment octo/shop 7';
  assert.equal((await pausedKey(cli)).name, place);
  assert.equal((await cli('gateway', 'loops', 'release', place)).code, 0);
  assert.equal(await send(QUESTION), 'accepted');
});

async function pausedKey(
  cli: (...argv: string[]) => Promise<{ readonly stdout: string }>,
): Promise<{ readonly name?: string }> {
  const [paused = {}] = JSON.parse((await cli('gateway', 'loops', 'list', '--json')).stdout) as { name: string }[];
  return paused;
}
