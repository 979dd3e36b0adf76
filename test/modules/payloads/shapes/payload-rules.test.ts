/** Tests the rules about payloads: what they report, and what they accept. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { repairRounds } from '../../../../modules/tutor/compiler/repair-rounds.ts';
import { compileFiles } from '../../../helpers/compile.ts';
import { goldenTexts } from '../../../helpers/golden-texts.ts';

const printed = goldenTexts('modules/payloads/shapes/payload-rules.txt');

/** Returns `rule: message` of each diagnostic about one route. @param route YAML lines of the route */
function said(route: string, files: Readonly<Record<string, string>> = {}, rest = ''): readonly string[] {
  const lines = route.split('\n').map((line) => `        ${line}`);
  const config = `platforms:\n  webhook:\n    enabled: true\n    secret: env:SECRET\n    routes:\n      r:\n${lines.join('\n')}\n${rest}`;
  const { diagnostics } = compileFiles({ 'hookwright.yaml': config, ...files });
  return diagnostics.map(({ rule, message, hint }) => `${rule}: ${message}${hint === undefined ? '' : ` (${hint})`}`);
}

const PULL = 'source: github\nevents: [pull_request]\n';

test('reports a quoted `true` or number with its quotes and the fix', () => {
  const filters = (value: string) => said(`${PULL}prompt: x\nfilters: { field: pull_request.${value} }`);
  assert.match(
    String(filters('merged, equals: "true"')),
    /^impossible-filter: `pull_request\.merged`.*`"true"`.*`pull_request`.*`true`/,
  );
  assert.match(String(filters('number, equals: "5"')), /`"5"`.*`5`/);
});

describe('a path that no event has', () => {
  const CASES: readonly (readonly [template: string, suggestion: string])[] = [
    ['pull_request.titel', '`{pull_request.title}`'],
    ['pull_request.User.login', '`{pull_request.user.login}`'],
    ['head.ref', '`{pull_request.head.ref}`'],
    ['repo.name', '`{repository.name}`'],
    ['pr.title', '`{pull_request.title}`'],
    ['title', '`{pull_request.title}`'],
    ['pull_request.user_login', '`{pull_request.user.login}`'],
    ['pull_request.headref', '`{pull_request.head.ref}`'],
  ];
  for (const [path, suggestion] of CASES) {
    test(`{${path}}: suggests ${suggestion}`, () => {
      const [first, ...others] = said(`${PULL}prompt: "{${path}}"`);
      assert.deepEqual(others, []);
      const names = ['unknown-payload-path: ', '`pull_request`', `\`${path}\``, suggestion];
      for (const name of names) assert.ok(first?.includes(name), first);
    });
  }

  test('is found in keys, addresses, prompts of jobs and filters', () => {
    assert.match(String(said(`${PULL}prompt: x\ncoalesce: { key: pull_request.numbr }`)), /`pull_request.number`/);
    assert.match(
      String(said(`${PULL}prompt: x\ndeliver: log\ndeliver_extra: { log: { chat_id: "{pull_request.numbr}" } }`)),
      /`\{pull_request.number\}`/,
    );
    const job = 'jobs:\n  nightly: { schedule: "0 3 * * *", prompt: x }\n';
    assert.match(String(said(`${PULL}cron_job: nightly\nprompt: "{numbr}"`, {}, job)), /`\{number\}`/);
    assert.match(
      String(said(`${PULL}prompt: x\nfilters: { field: pull_request.drafd, equals: false }`)),
      /`pull_request`.*`pull_request.drafd`.*`pull_request.draft`/,
    );
    assert.match(
      String(said(`${PULL}prompt: x\nfilters: { not: { any: [{ field: payload.actio, exists: true }] } }`)),
      /`payload.actio`.*`action`/,
    );
  });

  test('an object is allowed in a prompt, but not as an address or a key', () => {
    assert.deepEqual(said(`${PULL}prompt: "{pull_request.user}"`), []);
    assert.match(
      said(`${PULL}prompt: x\ncoalesce: { key: "{repository}" }`).join(),
      /^unknown-payload-path: `\{repository\}`[^`]*`\{repository\.full_name\}`[^`]*$/,
    );
    // The field may be null.
    assert.match(
      said(`${PULL}prompt: x\ncoalesce: { key: "{pull_request.user}" }`).join(),
      /^unknown-payload-path: `\{pull_request\.user\}`[^`]*`\{pull_request\.user\.login\}`[^`]*$/,
    );
  });

  test('the message names other events that have it', () => {
    assert.match(
      String(said('source: github\nevents: [push]\nprompt: "{issue.number}"')),
      /`push`.*`issue\.number`.*`issue_comment`.*`issues`/,
    );
  });

  test('names outside the payload are not checked', () => {
    assert.deepEqual(
      said(`${PULL}prompt: "{event_type} {route} {delivery_id} {__raw__} {action}"`).map((each) => each.split(':')[0]),
      [],
    );
  });
});

describe('filters narrow the possible events', () => {
  test('by the action of an event', () => {
    assert.deepEqual(said(`${PULL}prompt: "{changes.title.from}"`), []);
    assert.deepEqual(said(`${PULL}filters: { field: action, equals: edited }\nprompt: "{changes.title.from}"`), []);
    assert.match(
      said(`${PULL}filters: { field: action, in: [opened, closed] }\nprompt: "{changes.title.from}"`).join(),
      /^unknown-payload-path: .*`pull_request`.*`closed`.*`opened`.*`changes\.title\.from`.*`pull_request`.*`edited`/,
    );
    assert.match(
      String(said(`${PULL}filters: { not: { field: action, equals: edited } }\nprompt: "{changes.title.from}"`)),
      /`pull_request`.*`edited`/,
    );
    assert.match(
      String(said(`${PULL}filters: { field: action, not_equals: edited }\nprompt: "{changes.title.from}"`)),
      /`pull_request`.*`edited`/,
    );
    assert.match(
      String(said(`${PULL}filters: { field: action, regex: "^(opened|closed)$" }\nprompt: "{changes.title.from}"`)),
      /unknown-payload-path/,
    );
  });

  test('by the event, and by a field that one event has', () => {
    const both = 'source: github\nevents: [issues, issue_comment]\n';
    assert.deepEqual(said(`${both}prompt: "{comment.body}"`), []);
    assert.match(
      String(said(`${both}filters: { field: event, equals: issues }\nprompt: "{comment.body}"`)),
      /`issues`/,
    );
    assert.deepEqual(
      said(`${both}filters: { field: event_type, equals: issue_comment }\nprompt: "{comment.body}"`),
      [],
    );
    assert.match(
      String(
        said(
          `source: github\nevents: [issues, push]\nfilters: { field: commits, exists: true }\nprompt: "{issue.title}"`,
        ),
      ),
      /`push`.*`issue.title`/,
    );
  });

  test('`any` leaves the events that match at least one condition', () => {
    const any = 'filters: { any: [{ field: action, equals: opened }, { field: action, equals: edited }] }\n';
    assert.deepEqual(said(`${PULL}${any}prompt: "{changes.title.from}"`), []);
    assert.match(String(said(`${PULL}${any}prompt: "{label.name}"`)), /`edited` or `opened`|`opened` or `edited`/);
  });

  test('an impossible condition does not hide later problems', () => {
    const found = said(
      `${PULL}filters: [{ field: action, equals: opend }, { field: pull_request.stat, equals: open }]\nprompt: "{titl}"`,
    );
    assert.deepEqual(
      found.map((each) => each.split(':')[0]),
      ['unknown-event-action', 'unknown-payload-path', 'unknown-payload-path'],
    );
  });
});

describe('a filter that no event passes', () => {
  const CASES = [
    ['{ field: action, equals: open }', 'unknown-event-action'],
    ['{ field: action, in: [opened, synchronized] }', 'unknown-event-action'],
    ['{ field: action, not_equals: close }', 'unknown-event-action'],
    ['{ field: pull_request.state, equals: merged }', 'impossible-filter'],
    ['{ field: pull_request.author_association, in: [OWNR] }', 'impossible-filter'],
    ['{ field: number, equals: "5" }', 'impossible-filter'],
    ['{ field: pull_request.draft, equals: "false" }', 'impossible-filter'],
    ['{ field: pull_request.user, equals: octocat }', 'impossible-filter'],
    ['{ field: pull_request.labels, equals: bug }', 'impossible-filter'],
    ['{ field: event, equals: pull_requests }', 'impossible-filter'],
    ['[{ field: action, equals: opened }, { field: action, equals: closed }]', 'impossible-filter'],
    ['{ field: pull_request.title, gt: 500 }', 'impossible-filter'],
    ['{ not: { field: pull_request.user, lte: 10 } }', 'impossible-filter'],
    ['[{ field: changes.title.from, exists: true }, { field: action, equals: opened }]', 'impossible-filter'],
  ] as const;
  for (const [filter, rule] of CASES) {
    test(filter, () => {
      const found = said(`${PULL}filters: ${filter}\nprompt: x`).filter(
        (each) => !each.includes('`x`') || rule === 'impossible-filter',
      );
      printed(filter, found.find((each) => each.startsWith(rule)) ?? String(found));
    });
  }

  test('contradicting conditions are found without a shape', () => {
    const [first] = said(
      'auth: [generic-v2]\nfilters: { all: [{ field: a, equals: 1 }, { field: a, equals: 2 }] }\nprompt: x',
    );
    assert.match(first ?? '', /^impossible-filter: /);
    const [missing] = said(
      'auth: [generic-v2]\nfilters: [{ field: x, in: [1, 2] }, { field: x, missing: true }]\nprompt: x',
    );
    assert.match(missing ?? '', /`x`.*`1`.*`2`/);
    const ranges = [
      '{ gt: 5 }, { lt: 5 }',
      '{ gt: 5 }, { lte: 5 }',
      '{ gte: 5 }, { lt: 9 }, { gt: 9 }',
      '{ in: [1, 7, "9"] }, { gt: 5 }, { equals: 1 }',
      '{ lt: 5 }, { equals: 5 }',
      '{ lt: 5 }, { equals: "4" }',
      '{ lt: 5 }, { missing: true }',
      '{ gte: 5 }, { lte: 5 }, { equals: 5 }',
      '{ gt: 5 }, { lt: 6 }, { not_equals: 5 }',
      '{ gt: 5 }, { gt: 7 }, { in: [6, 8] }',
    ];
    for (const conditions of ranges) {
      const filters = conditions.replaceAll('{ ', '{ field: x, ');
      const [range = 'nothing'] = said(`auth: [generic-v2]\nfilters: [${filters}]\nprompt: x`);
      printed(conditions, range);
    }
    const fine =
      '[{ any: [{ field: a, equals: 1 }, { field: a, equals: 2 }] }, { field: a, equals: 2 }, { field: a, not_equals: 1 }]';
    assert.deepEqual(said(`auth: [generic-v2]\nfilters: ${fine}\nprompt: x`), []);
  });

  test('possible conditions are accepted', () => {
    const fine = [
      '{ field: action, in: [opened, reopened] }',
      '{ field: pull_request.merged_at, equals: null }',
      '{ field: pull_request.merged_at, not_equals: null }',
      '{ field: pull_request.labels, contains: { name: bug } }',
      '{ field: pull_request.title, regex: "^feat" }',
      '{ field: pull_request.body, starts_with: "/run" }',
      '{ field: action, starts_with: "re" }',
      '{ field: pull_request.body, contains: "/run" }',
      '[{ field: pull_request.additions, gt: 100 }, { field: pull_request.additions, lte: 100.5 }]',
      '{ field: headers.X-Custom, equals: "1" }',
      '{ field: sender.login, in_file: people.txt }',
      '{ field: pull_request.base.ref, in: [main, release] }',
      '{ field: repository.custom_properties.tier, equals: gold }',
      '{ not: { field: sender.type, equals: Bot } }',
    ];
    for (const filter of fine) {
      const found = said(`${PULL}filters: ${filter}\nprompt: x`, { '~/.hookwright/people.txt': 'a\n' });
      assert.deepEqual(found, [], filter);
    }
  });
});

test('--fix repairs a slip of one field, and leaves other names to the author', () => {
  const config = `platforms:
  webhook:
    enabled: true
    secret: env:SECRET
    routes:
      r:
        source: github
        events: [pull_request]
        filters:
          - { field: "pull_request.drafd", equals: false }
          - { field: action, in: ["opend", synchronise] }
        prompt: |
          {pull_request.titel} by {pull_request.user.login}
          {repo.name} {login}
        coalesce: { key: pull_request.numbr }
`;
  const compiled = (text: string) => compileFiles({ 'hookwright.yaml': text });
  const { files } = repairRounds(compiled(config), (texts) => compiled([...texts.values()][0]?.after ?? config));
  const [file] = files;
  const changed = (file?.after ?? '').split('\n').filter((line) => !config.split('\n').includes(line));
  assert.deepEqual(
    changed.map((line) => line.trim()),
    [
      '- { field: "pull_request.draft", equals: false }',
      '- { field: action, in: ["opened", synchronize] }',
      '{pull_request.title} by {pull_request.user.login}',
      'coalesce: { key: pull_request.number }',
    ],
  );
});

describe('uncertain events', () => {
  const TYPO = 'prompt: "{zork}"';
  test('are certain with a source, or with events of one sender', () => {
    assert.equal(said(`source: github\n${TYPO}`).length, 1);
    assert.equal(said(`events: [pull_request]\n${TYPO}`).length, 1);
    assert.equal(said(`events: ["pull_request*"]\n${TYPO}`).length, 1);
  });
  const SILENT: readonly (readonly [string, string])[] = [
    ['no source and no events', ''],
    ['an event that no sender documents', 'events: [alert]\n'],
    ['events of two senders', 'events: [pull_request, Push Hook]\n'],
    ['a signature that is not the sender’s', 'auth: [generic-v2]\nevents: [pull_request]\n'],
    ['a source without a shape', 'source: sentry\n'],
    ['an event that the shape does not know', 'source: gitlab\nevents: [Push Hook, Milestone Hook]\n'],
    ['no events, and a shape that lacks some', 'source: gitlab\n'],
    ['a script that may replace the payload', 'source: github\nevents: [push]\nscript: change.py\n'],
    ['an open object above it', 'source: github\nevents: [repository_dispatch]\n'],
  ];
  for (const [name, keys] of SILENT) {
    test(`are not checked: ${name}`, () => {
      const route = keys.includes('dispatch') ? `${keys}prompt: "{client_payload.zork}"` : `${keys}${TYPO}`;
      const found = said(route, { '~/.hookwright/scripts/change.py': '' });
      assert.deepEqual(
        found.filter((each) => each.includes('zork')),
        [],
      );
    });
  }
});

describe('a custom source', () => {
  const SOURCE = 'verify: token, signature: { header: X-Token }, event: { header: X-Event }';
  const SCHEMA = JSON.stringify({
    type: 'object',
    required: ['id'],
    properties: { id: { type: 'string' }, status: { enum: ['open', 'paid'] }, buyer: { $ref: '#/$defs/person' } },
    $defs: { person: { properties: { name: { type: 'string' } } } },
  });
  const own = (shape: string): string => `sources:\n  shop: { ${SOURCE}, shape: ${shape} }\n`;

  test('`shape` may be one file for all events', () => {
    const found = said(
      'source: shop\nprompt: "{id} {buyer.nam} {buyer.name}"\nfilters: { field: status, equals: payed }',
      { 'shapes/shop.json': SCHEMA },
      own('shapes/shop.json'),
    );
    assert.match(
      found.toSorted().join('\n'),
      /^impossible-filter: `status`.*`payed`.*`shop`.*`paid`.*\nunknown-payload-path: .*`shop`.*`buyer\.nam`.*`\{buyer\.name\}`.*$/,
    );
  });

  test('`shape` may be a file per event, or a part of a file', () => {
    const files = {
      'order.yaml': SCHEMA,
      'all.yaml': '$defs:\n  refund: { properties: { order: { type: string } } }\n',
    };
    const shapes = own('{ order: order.yaml, refund: "all.yaml#/$defs/refund" }');
    assert.match(
      said('source: shop\nevents: [refund]\nprompt: "{order} {id}"', files, shapes).join(),
      /^unknown-payload-path: [^`]*`refund`[^`]*`id`[^`]*`order`[^`]*$/,
    );
    assert.deepEqual(said('source: shop\nprompt: "{order} {id}"', files, shapes), []);
    assert.match(
      String(said('source: shop\nevents: [refnud]\nprompt: "{zork}"', files, shapes)),
      /^unknown-event: .*`shop`.*`refnud`.*`refund`/,
    );
    assert.deepEqual(said('source: shop\nevents: [other]\nprompt: "{zork}"', files, shapes), []);
  });

  test('a missing file, or one that is not a schema, is an error at its name', () => {
    assert.match(
      said('source: shop\nprompt: x', {}, own('shapes/shop.json')).join('\n'),
      /^unreadable-file: `shapes\/shop\.json`.*$/,
    );
    assert.deepEqual(said('source: shop\nprompt: x', { 's.yaml': '- 1\n' }, own('s.yaml')), [
      'unreadable-file: `s.yaml` is not a JSON Schema: an object is expected',
    ]);
    assert.deepEqual(
      said('source: shop\nprompt: x', { 's.yaml': 'a: [' }, own('s.yaml')).map((each) => each.split(':')[0]),
      ['yaml-syntax'],
    );
  });
});
