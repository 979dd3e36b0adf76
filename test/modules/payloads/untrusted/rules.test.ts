/** Tests the rules about strangers' text, with filters, jobs, profiles and subscriptions. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applyStrict } from '../../../../compiler/diagnostics/diagnostic.ts';
import type { TestFiles } from '../../../helpers/compile.ts';
import { compileFiles, printed } from '../../../helpers/compile.ts';

/** @param route YAML lines of one route @param rest further top-level lines */
function lint(route: string, rest = '', files: TestFiles = {}) {
  const config = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      r:
        ${route.trim().replaceAll('\n', '\n        ')}
  github_comment: { enabled: true }
  slack: { enabled: true, token: env:SLACK_TOKEN, home_channel: C1 }
${rest}`;
  const result = compileFiles({ 'hookwright.yaml': config, ...files });
  assert.notEqual(result.output, null, printed(result));
  // It sums up what these rules report in detail.
  return result.diagnostics.filter(({ rule }) => rule !== 'rule-of-two');
}

const rulesOf = (...input: Parameters<typeof lint>): readonly string[] => lint(...input).map(({ rule }) => rule);

describe('untrusted-input', () => {
  test('names the complete path of the text, and remedies', () => {
    const [found] = lint(`
source: github
events: [issue_comment]
toolsets: [terminal, web, file]
prompt: "{issue.number}: {comment.body} on {issue.title}, {comment.body}: {issue.body}"
deliver: slack`);
    assert.match(
      found?.message ?? '',
      /`\{comment\.body\}`.*`\{issue\.title\}`.*`\{issue\.body\}`.*`terminal`.*`file`.*`slack`/,
    );
    assert.match(found?.hint ?? '', /`\{ field: comment\.author_association, in: \[OWNER, MEMBER, COLLABORATOR\] \}`/);
    assert.match(found?.hint ?? '', /`terminal`.*`file`.*`accept_untrusted: <reason>`/);
    // The position is the placeholder.
    const { source, range } = found ?? assert.fail();
    assert.equal(source.text.slice(range.start, range.end), '{comment.body}');
    const related = found?.related?.map((other) => other.source.text.slice(other.range.start, other.range.end));
    assert.deepEqual(related, ['{issue.title}', '{issue.body}']);
  });

  const guarded = (filters: string, prompt = '{issue.title}'): readonly string[] =>
    rulesOf(`source: github\nevents: [issues]\nfilters: ${filters}\ntoolsets: [terminal]\nprompt: "${prompt}"`);

  test('accepts only filters that restrict the author', () => {
    const safe = [
      '[{ field: issue.user.id, in: [1, 2] }]',
      '{ field: payload.issue.user.login, equals: ada }',
      '[{ all: [{ field: issue.user.login, equals: ada }, { field: action, equals: opened }] }]',
      '[{ any: [{ field: issue.user.login, equals: ada }, { all: [{ field: issue.author_association, equals: OWNER }] }] }]',
      '[{ field: action, equals: opened }, { field: sender.login, in: [ada] }]',
    ];
    for (const filters of safe) assert.deepEqual(guarded(filters), [], filters);
    const dangerous = [
      '[{ field: issue.user.login, not_equals: mallory }]',
      '[{ not: { field: issue.user.login, equals: mallory } }]',
      '[{ field: issue.user.login, regex: ada }]',
      '[{ field: issue.user.login, exists: true }]',
      '[{ any: [{ field: issue.user.login, equals: ada }, { field: action, equals: opened }] }]',
      '[{ field: issue.author_association, in: [OWNER, NONE] }]',
      '[{ field: issue.author_association, not_equals: NONE }]',
      '[{ field: issue.assignee.login, equals: ada }]',
      '[{ field: sender.login, in: [ada] }]',
      '[{ field: repository.private, equals: true }]',
    ];
    for (const filters of dangerous) assert.deepEqual(guarded(filters), ['untrusted-input'], filters);
  });

  test('reports an object with texts by other authors than the filtered one', () => {
    assert.deepEqual(guarded('[{ field: issue.author_association, equals: OWNER }]', '{issue}'), ['untrusted-input']);
  });

  test('treats an unknown toolset as acting, and omits a forbidden one', () => {
    const route = (toolset: string): string =>
      `source: github\ntoolsets: [${toolset}]\nprompt: "{issue.title}"\nevents: [issues]`;
    assert.deepEqual([...rulesOf(route('shell'))].sort(), ['unknown-toolset', 'untrusted-input']);
    // Another rule reports that it is dropped.
    const [found] = lint(route('shell')).filter(({ rule }) => rule === 'untrusted-input');
    assert.match(found?.message ?? '', /`shell`/);
    assert.deepEqual(rulesOf(route('messaging')), ['barred-toolset']);
  });

  test('uses the toolsets of the job instead of the route’s', () => {
    const route = 'source: github\nevents: [issues]\ncron_job: j\nprompt: "{issue.title}"';
    const job = (toolsets: string): string =>
      `jobs: { j: { schedule: "0 8 * * *", prompt: P, toolsets: [${toolsets}] } }`;
    const [found] = lint(route, job('terminal'));
    assert.match(found?.message ?? '', /`j`.*`terminal`/);
    assert.deepEqual(rulesOf(route, job('web')), []);
    // Forbidden for routes, but not for jobs.
    assert.deepEqual(rulesOf(route, job('messaging')), ['untrusted-input']);
  });

  test('does not trust a custom source without a shape, or a script’s payload', () => {
    const own = 'sources: { shop: { verify: token, signature: { header: X-Token } } }';
    const [found] = lint('source: shop\ntoolsets: [terminal]\nprompt: "{note}"', own);
    assert.match(found?.message ?? '', /`\{note\}`/);
    assert.deepEqual(rulesOf('source: shop\ntoolsets: [terminal]\nprompt: "Look at {event_type}"', own), []);
  });

  test('checks subscriptions', () => {
    const subscription = { source: 'github', events: ['issues'], toolsets: ['terminal'], prompt: '{issue.body}' };
    const files = { '~/.hookwright/webhook_subscriptions.json': JSON.stringify({ mine: subscription }) };
    assert.deepEqual(rulesOf('deliver_only: true\ndeliver: slack\nprompt: x', '', files), ['untrusted-input']);
  });

  test('requires a reason in words for `accept_untrusted`', () => {
    const compile = (reason: string, confined: string) =>
      compileFiles({
        'hookwright.yaml': `platforms: { webhook: { enabled: true, secret: env:S, routes: { r: { accept_untrusted: ${reason} } } } }
agent: { command: [my-agent], confined: ${confined} }`,
      });
    for (const blank of ['""', '" "', '"\\t"', 'true', '1']) {
      const { output, diagnostics } = compile(blank, blank);
      assert.equal(output, null);
      const found = diagnostics.filter(({ rule }) => rule === 'invalid-value' || rule === 'wrong-type');
      assert.equal(found.length, 2, blank);
      // Quotes would make these values a reason.
      for (const { fix } of found) assert.equal(fix, undefined);
    }
    assert.notEqual(compile('In a container.', 'In a container.').output, null);
  });

  test('recommends marking if it is off', () => {
    const route = 'source: github\nevents: [issues]\ntoolsets: [terminal]\nprompt: "{issue.title}"';
    const hint = (rest: string, further = ''): string => lint(`${route}${further}`, rest)[0]?.hint ?? '';
    assert.match(hint(''), /`untrusted: mark`/);
    assert.doesNotMatch(hint('gateway: { untrusted: mark }'), /`untrusted: mark`/);
    assert.doesNotMatch(hint('', '\nuntrusted: mark'), /`untrusted: mark`/);
    assert.match(hint('gateway: { untrusted: mark }', '\nuntrusted: verbatim'), /`untrusted: mark`/);
  });
});

describe('agent-unconfined', () => {
  const route = 'source: github\nevents: [issues]\nprompt: "{issue.title}"';

  test('reports an agent once, with its routes', () => {
    const [found, ...more] = lint(`${route}\n`, 'agent: { command: [my-agent] }');
    assert.deepEqual([found?.rule, more], ['agent-unconfined', []]);
    assert.match(found?.message ?? '', /`\{issue\.title\}`.*`r`.*`my-agent`/);
  });

  test('accepts an agent with toolsets, confinement, an accepted risk or no strangers’ text, and one that is not a program', () => {
    const filter = 'filters: [{ field: issue.author_association, equals: OWNER }]';
    assert.deepEqual(rulesOf(route, 'agent: { command: [my-agent, "--tools={toolsets}"] }'), []);
    assert.deepEqual(rulesOf(route, `agent: { command: [sh, -c, 'my-agent "$HOOKWRIGHT_TOOLSETS"'] }`), []);
    assert.deepEqual(
      rulesOf(route, 'agent: { command: [sh, -c, "my-agent # $HOOKWRIGHT_TOOLSETS"] }').at(-1),
      'agent-unconfined',
    );
    assert.deepEqual(rulesOf(route, 'agent: { command: [my-agent], confined: In a container. }'), []);
    assert.deepEqual(rulesOf(`${route}\naccept_untrusted: It has no tools.`, 'agent: { command: [my-agent] }'), []);
    assert.deepEqual(rulesOf(`${route}\n${filter}`, 'agent: { command: [my-agent] }'), []);
    assert.deepEqual(rulesOf(route, 'agent: { openai: { base_url: "https://x", model: y } }'), []);
  });
});

describe('self-trigger', () => {
  const answers = (
    filters: string,
    events = 'issue_comment',
    target = 'github_comment',
    extra = 'repo: "{repository.full_name}", pr_number: "{issue.number}"',
  ): readonly string[] =>
    rulesOf(`
source: github
events: [${events}]
filters: ${filters}
prompt: "{issue.number}"
deliver: ${target}
deliver_extra: { ${extra} }`).filter((rule) => rule === 'self-trigger');

  test('reports a route without a filter on its own events', () => {
    for (const filters of ['[]', '[{ field: action, equals: created }]', '[{ field: comment.body, contains: "@bot" }]'])
      assert.deepEqual(answers(filters), ['self-trigger'], filters);
    // The account that posts may be a member.
    assert.deepEqual(answers('[{ field: comment.author_association, equals: MEMBER }]'), ['self-trigger']);
    const letIn = [
      '[{ any: [{ field: comment.user.login, not_equals: our-bot }, { field: action, equals: created }] }]',
      '[{ field: sender.type, equals: Bot }]',
      '[{ not: { field: sender.type, equals: User } }]',
      '[{ field: comment.user.login, exists: true }]',
      '[{ field: comment.user.login, in: [our-bot] }]',
      '[{ not: { field: comment.user.login, not_equals: "ours[bot]" } }]',
      '[{ field: headers.sender.login, not_equals: our-bot }]',
    ];
    for (const filters of letIn) assert.deepEqual(answers(filters), ['self-trigger'], filters);
  });

  test('accepts a route with such a filter, another event or another target', () => {
    const captured = [
      '[{ field: sender.type, not_equals: Bot }]',
      '[{ not: { field: comment.user.login, equals: our-bot } }]',
      '[{ field: comment.body, regex: "^/review" }]',
      '[{ field: action, equals: edited }]',
      '[{ field: sender.type, equals: User }]',
      '[{ field: comment.user.login, in: [ada, grace] }]',
      '[{ field: comment.user.login, equals: "dependabot[bot]" }]',
      '[{ any: [{ field: comment.user.login, not_equals: our-bot }, { field: action, equals: deleted }] }]',
    ];
    for (const filters of captured) assert.deepEqual(answers(filters), [], filters);
    assert.deepEqual(answers('[]', 'issues'), []);
    assert.deepEqual(answers('[]', 'issue_comment', 'slack', 'chat_id: C1'), []);
  });

  test('applies to other signatures of the same sender, but not to a disabled route', () => {
    const route = (source: string, more = ''): string => `source: ${source}
events: [issue_comment]
prompt: x
deliver: github_comment
deliver_extra: { repo: us/app, pr_number: "1" }${more}`;
    assert.ok(rulesOf(route('github-sha1')).includes('self-trigger'));
    assert.ok(!rulesOf(route('github', '\nenabled: false')).includes('self-trigger'));
    assert.ok(
      !rulesOf(route('github', '\nfilters: [{ field: repository.full_name, equals: us/other }]')).includes(
        'self-trigger',
      ),
    );
    assert.ok(
      rulesOf(route('github', '\nfilters: [{ field: repository.full_name, equals: us/app }]')).includes('self-trigger'),
    );
  });

  test('compares channels', () => {
    const slack = (chat: string): readonly string[] =>
      rulesOf(`source: slack
events: [message]
filters: [{ field: event.channel, equals: C1 }]
prompt: x
deliver: slack
deliver_extra: { chat_id: "${chat}" }`);
    assert.deepEqual(slack('C2'), []);
    for (const chat of ['C1', '#general', '{event.channel}']) assert.deepEqual(slack(chat), ['self-trigger'], chat);
  });

  test('covers status reports of sent WhatsApp messages', () => {
    const whatsapp = (filters: string): readonly string[] =>
      lint(
        `source: whatsapp
verify_token: env:VERIFY
filters: ${filters}
prompt: x
deliver: whatsapp
deliver_extra: { chat_id: "+491701234567" }`,
      )
        .filter(({ rule }) => rule === 'self-trigger')
        .map(({ hint }) => hint ?? '');
    const messages = 'entry.0.changes.0.value.messages';
    assert.ok(whatsapp('[]')[0]?.endsWith(`\`{ field: ${messages}, exists: true }\``));
    assert.equal(whatsapp(`[{ field: ${messages}.0.from, not_equals: "491" }]`).length, 1);
    assert.deepEqual(whatsapp(`[{ field: ${messages}, exists: true }]`), []);
    assert.deepEqual(whatsapp(`[{ field: ${messages}.0.from, equals: "491" }]`), []);
    assert.deepEqual(whatsapp('[{ field: entry.0.changes.0.value.statuses, missing: true }]'), []);
  });

  test('covers a bot that reads its own messages, and a job that a comment triggers', () => {
    assert.deepEqual(rulesOf('source: slack\nevents: [message]\nprompt: "{event.channel}"\ndeliver: slack'), [
      'self-trigger',
    ]);
    const job = 'jobs: { j: { schedule: "0 8 * * *", prompt: P, agent: none, deliver: slack } }';
    assert.deepEqual(rulesOf('source: slack\nevents: [message]\ncron_job: j\nprompt: "{event.channel}"', job), [
      'self-trigger',
    ]);
  });
});

test('--strict turns exactly these rules into errors', () => {
  const found = lint('source: github\nevents: [issues]\ntoolsets: [terminal, nmae]\nprompt: "{issue.title}"');
  const severities = new Map(applyStrict(found).map(({ rule, severity }) => [rule, severity]));
  assert.deepEqual([severities.get('untrusted-input'), severities.get('unknown-toolset')], ['error', 'warning']);
});
