import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { editYaml } from '../../../../modules/setup/cli/setup/edit-yaml.ts';

const COMMENTED = `# hookwright of the build machine
# second line

platforms: # all of them
    webhook:
        enabled: true # on
        # where
        extra:
            port: 8644 # the usual one
            secret: 'env:WEBHOOK_SECRET'   # generated

            routes:
                # reviews
                review:
                    events: [pull_request, "push"] # two
                    prompt: |
                        # not a comment
                        Review {pull_request.title}
                    # the end of review
    # chat
    messenger_a: {enabled: true, token: env:T}

gateway:
# nothing yet
# the end
`;

test('values change in place, and comments and layout stay', () => {
  const edited = editYaml('x.yaml', COMMENTED, [
    { path: ['platforms', 'webhook', 'extra', 'port'], value: 9000 },
    { path: ['platforms', 'webhook', 'extra', 'routes', 'hello'], value: { events: ['push'], prompt: 'Hi\n{a}\n' } },
    { path: ['gateway', 'drain_seconds'], value: 5 },
    { path: ['agent', 'command'], value: ['my-agent', '--print'] },
  ]);
  const value = parse(edited) as Record<string, Record<string, unknown>>;
  assert.deepEqual(value.agent, { command: ['my-agent', '--print'] });
  assert.deepEqual(value.gateway, { drain_seconds: 5 });
  const before = COMMENTED.split('\n');
  const after = new Set(edited.split('\n'));
  const changed = before.filter((line) => !after.has(line));
  assert.deepEqual(changed, ['            port: 8644 # the usual one']);
  assert.match(edited, / {12}port: 9000 # the usual one\n/);
  assert.match(edited, / {16}hello:\n {20}events:/);
});

test('editing twice with the same values changes nothing the second time', () => {
  const edits = [{ path: ['gateway', 'drain_seconds'], value: 5 }];
  const once = editYaml('x.yaml', COMMENTED, edits);
  assert.equal(editYaml('x.yaml', once, edits), once);
});

test('settings are added to a file that is empty or has only comments', () => {
  const edits = [{ path: ['gateway', 'drain_seconds'], value: 5 }];
  assert.equal(editYaml('x.yaml', '', edits), 'gateway:\n  drain_seconds: 5\n');
  assert.equal(editYaml('x.yaml', '# mine\n', edits), '# mine\ngateway:\n  drain_seconds: 5\n');
});

test('line ends are kept, and a missing last one is added', () => {
  const edited = editYaml('x', 'a:\r\n  b: 1\r\n', [{ path: ['a', 'c'], value: 2 }]);
  assert.equal(edited, 'a:\r\n  b: 1\r\n  c: 2\r\n');
  assert.equal(editYaml('x', 'a: 1', [{ path: ['b'], value: 2 }]), 'a: 1\nb: 2\n');
});

test('a comment stays with the part it follows', () => {
  const text = 'a:\n  b: 1\n  # c: 2\n\n# next\nd: 1\n';
  assert.equal(editYaml('x', text, [{ path: ['a', 'e'], value: 1 }]), text.replace('# c: 2\n', '# c: 2\n  e: 1\n'));
  const option = editYaml('x', 'a:\n  # b: 1\nd: 1\n', [{ path: ['a', 'b'], value: 2 }]);
  assert.equal(option, 'a:\n  # b: 1\n  b: 2\nd: 1\n');
});

test('flow maps are changed in place', () => {
  const text = 'a: {b: 1, c: "x"} # why\n';
  const set = (path: string[], value: unknown): string => editYaml('x', text, [{ path, value }]);
  assert.equal(set(['a', 'd'], 'p, q'), 'a: {b: 1, c: "x", d: "p, q"} # why\n');
  assert.equal(set(['a', 'b'], [1, 'y']), 'a: {b: [1, y], c: "x"} # why\n');
  assert.equal(editYaml('x', 'a: {}\n', [{ path: ['a', 'b', 'c'], value: 1 }]), 'a: {b: {c: 1}}\n');
});

const VALUES: readonly unknown[] = [
  ...['x', '', ' # x', '- a', '-100', 'yes', 'null', 'a: b', 'l1\nl2\n', '\u0007', 'env:A'],
  ...[7, -0.5, true, null, ['a', 'b c'], { k: ['v'] }, {}, []],
];
test('any value can replace any other and is read back unchanged', () => {
  for (const from of VALUES) {
    const text = editYaml('x', 'top: # t\n  other: 1 # o\n', [{ path: ['top', 'key'], value: from }]);
    for (const value of VALUES) {
      const edited = editYaml('x', text, [{ path: ['top', 'key'], value }]);
      const what = `${JSON.stringify(from)} to ${JSON.stringify(value)}`;
      assert.deepEqual(parse(edited), { top: { other: 1, key: value } }, what);
      assert.match(edited, /^top: # t\n {2}other: 1 # o\n/, what);
    }
  }
});

const refused: readonly (readonly [string, string, RegExp])[] = [
  ['broken YAML, with its place', 'a: [1\nb: 2\n', /^x\.yaml:\d+:\d+: /],
  ['a list at the root', '- a\n', /^/],
  ['a path through a list', 'gateway: [1]\n', /\bgateway\b/],
  ['a path through an alias', 'x: &a {b: 1}\ngateway: *a\n', /\bgateway\b/],
  ['a change that would lose a comment', 'gateway:\n  drain_seconds:\n    # why\n    [5]\n', /"# why"/],
];
for (const [name, text, expected] of refused) {
  test(`rejects ${name}`, () => {
    assert.throws(() => editYaml('x.yaml', text, [{ path: ['gateway', 'drain_seconds'], value: 5 }]), {
      message: expected,
    });
  });
}
