/** Tests that no variant of any target sends a text that its service reads as a mention, a hidden link or code. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { lowerBinding } from '../../compiler/lower/binding.ts';
import { createTestDeliverer, deliveryTo } from '../helpers/deliveries.ts';
import { FakeGitHub } from '../helpers/fake-github.ts';
import { FakeGitLab } from '../helpers/fake-gitlab.ts';
import { TARGET_CASES } from '../helpers/target-cases.ts';
import { startTarget } from '../helpers/target-fake.ts';
import { shippedTarget, shippedTargets } from '../helpers/targets.ts';

const HOSTILE = [
  '@all @channel @here @everyone @room @team @alice @所有人 @+4915112345678',
  '<!channel> <!here> <@U012AB3CD> <#C012> <https://evil.example|bank.example> <!subteam^S012>',
  '<at user_id="all">x</at> <AT id=all></AT> <@all> <@everyone> <#1> <@&2> <a href="https://evil.example">bank.example</a>',
  '<a href="weixin://bizmsgmenu?msgmenucontent=yes&msgmenuid=1">read</a>',
  '&#64;all &commat;all &lt;!channel&gt; {{ states("x") }} {% set x %} {# x #} \u001b[31m \0',
].join('\n');

/** What a service reads in a text; null: no mention, hidden link or code. The exact requests are in target-cases.ts. */
const READS: Readonly<Record<string, RegExp | null>> = {
  // Only persons can be mentioned, by name; link previews are off.
  telegram: null,
  // `allowed_mentions` and `flags` decide.
  discord: null,
  slack: /[<>]|&(?!(?:amp|lt|gt);)/,
  mattermost: /@\w|&(?:#|commat)/i,
  // `m.mentions` decides.
  matrix: null,
  // `at` decides.
  dingtalk: null,
  feishu: /<at\b/i,
  wecom: /<[@a-z]/i,
  qqbot: /<[@#a-z]|@everyone/i,
  wechat: /<[a-z]/i,
  homeassistant: /\{[{%#]/,
  signal: null,
  sms: /[\0-\x08\x0b\x0c\x0e-\x1f]/,
  whatsapp: null,
  imessage: null,
};

/** All texts of a request, also those that are JSON in JSON. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(textsIn);
  if (typeof value !== 'string') return [];
  return value.startsWith('{"') ? textsIn(JSON.parse(value)) : [value];
}

test('each target has an entry', () => {
  const declarative = Object.values(shippedTargets()).flatMap(({ driver, name }) => (driver === 'http' ? [name] : []));
  // Code hosts are below; a custom service is outside of this test, and a reaction has no text.
  const judged = declarative.filter((name) => !/^git(hub|lab)_|_reaction$/.test(name) && name !== 'http');
  assert.deepEqual(judged.sort(), Object.keys(READS).sort());
});

describe('a hostile text', () => {
  for (const one of TARGET_CASES) {
    test(`${one.target}: ${one.name}`, async (t) => {
      const { deliverer, sends } = await startTarget(t, one, () => one.ok[0] ?? 'drop');
      await deliverer.deliver(deliveryTo(one.target, { extra: one.extra ?? {}, text: HOSTILE }));
      const [sent] = sends;
      if (one.target.endsWith('_reaction')) return assert.equal(sent, undefined);
      const form = Object.fromEntries(new URLSearchParams(sent?.body ?? ''));
      const texts = textsIn(sent?.json ?? form).filter((text) => text.includes('evil'));
      assert.ok(texts.length > 0, sent?.body);
      const live = READS[one.target];
      if (live !== null && live !== undefined) for (const text of texts) assert.doesNotMatch(text, live);
    });
  }
});

/** Code hosts decode entities, and read a mention in any Markdown but code, and a command at the start of a line. */
const live = (text: string): RegExpMatchArray | null =>
  text.replace(/&#64;|&#x40;|&commat;/gi, '@').match(/@[\p{L}\p{N}]|^[^\S\n]*\/[a-z]/imu);

describe('a hostile text for a code host', () => {
  const TEXT = `${HOSTILE}\n/merge\n  /close\n\r/approve\n\u2028/label ~x`;
  const repo = { repo: 'octo-org/shop', pr_number: '7', sha: 'a'.repeat(40), name: 'n', title: 'T', number: '7' };
  const project = { project: 'group/shop', issue: '7', sha: 'a'.repeat(40), name: 'n' };

  test('github', async (t) => {
    const github = await new FakeGitHub().start(t);
    github.tokens.set('ghp_x', 'our-bot');
    const names = ['github_comment', 'github_issue', 'github_review'];
    const { deliverer } = startCodeHost(t, names, { token: 'ghp_x', api_base: github.url });
    const content = { text: TEXT, comments: [{ path: 'a', line: 1, body: TEXT }] };
    for (const name of names) {
      const outcome = await deliverer.deliver(deliveryTo(name, { extra: repo, text: TEXT, content }));
      assert.equal(outcome.kind, 'ok', JSON.stringify(outcome));
    }
    const texts = textsIn(github.posts.map(({ sent }) => sent)).filter((text) => text.includes('evil'));
    assert.equal(texts.length, 4);
    for (const text of texts) assert.equal(live(text), null);
  });

  test('gitlab', async (t) => {
    const gitlab = await new FakeGitLab().start(t);
    gitlab.tokens.set('glpat-x', 'our-bot');
    const { deliverer } = startCodeHost(t, ['gitlab_note'], { token: 'glpat-x', api_base: gitlab.url });
    const outcome = await deliverer.deliver(deliveryTo('gitlab_note', { extra: project, text: TEXT }));
    assert.equal(outcome.kind, 'ok', JSON.stringify(outcome));
    const [note] = gitlab.notes.get('group/shop#7') ?? [];
    assert.equal(live(note?.body ?? '@x'), null);
    assert.deepEqual(gitlab.actions, []);
  });
});

function startCodeHost(t: TestContext, names: readonly string[], settings: Readonly<Record<string, string>>) {
  const targets = names.map(shippedTarget);
  const bindings = targets.map((plan) => {
    const { plan: binding } = lowerBinding({ enabled: true, ...settings }, plan, {
      profile: 'default',
      max_attempts: 1,
      at_most_once: false,
    });
    assert.ok(binding !== null);
    return [plan.name, binding] as const;
  });
  return { deliverer: createTestDeliverer(t, { targets, bindings: { default: Object.fromEntries(bindings) } }) };
}
