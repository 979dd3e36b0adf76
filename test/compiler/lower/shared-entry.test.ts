/** One entry under `platforms` configures all targets of GitHub, another one those of GitLab. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileText } from '../../../main/compiler.ts';

async function bindings(entries: string, route = 'deliver: log') {
  const yaml = `
platforms:
  webhook: { enabled: true, secret: env:SECRET, routes: { r: { source: github, prompt: x, ${route} } } }
${entries.replace(/^/gm, '  ')}`;
  const { table, diagnostics } = await compileText(yaml, {
    home: '/nonexistent',
    env: { SECRET: 'a-long-secret-of-the-route' },
  });
  const targets = table?.profiles.default?.targets ?? {};
  const variants = Object.entries(targets).map(([name, { variant }]) => `${name} ${variant}`);
  const errors = diagnostics
    .filter(({ rule }) => /^missing-setting|^invalid-value/.test(rule))
    .map(({ message }) => message.match(/`\w+`/g)?.join(' '));
  return { variants: variants.filter((name) => /^git(hub|lab)_/.test(name)).sort(), targets, errors, diagnostics };
}

const MEMBERS = ['github_issue', 'github_labels', 'github_reaction', 'github_review', 'github_status'];
const all = (variant: string, ...more: readonly string[]): string[] =>
  ['github_comment', ...MEMBERS, ...more].map((name) => `${name} ${variant}`).sort();

test('a token, an app, or the login of gh', async () => {
  assert.deepEqual((await bindings('')).variants, ['github_comment null']);
  assert.deepEqual((await bindings('github: { enabled: true, token: env:T }')).variants, all('token'));
  const app = await bindings('github: { enabled: true, app_id: 5, private_key: file:key.pem }');
  assert.deepEqual(app.variants, all('app', 'github_check'));
  assert.deepEqual(app.targets.github_labels?.credentials, app.targets.github_comment?.credentials);
  const off = await bindings('github: { enabled: false, token: env:T }');
  assert.deepEqual(off.variants, []);
  const gitlab = await bindings('gitlab: { enabled: true, token: env:T }');
  const names = ['gitlab_labels', 'gitlab_note', 'gitlab_reaction', 'gitlab_status'].map((name) => `${name} default`);
  assert.deepEqual(gitlab.variants, ['github_comment null', ...names]);
});

test('uses gh if its settings are set, and never sends the token to another host', async () => {
  for (const more of ['command: gh', 'host: github.example.com']) {
    const { variants, errors } = await bindings(`github: { enabled: true, token: env:T, ${more} }`);
    assert.deepEqual([variants, errors], [['github_comment null'], []]);
  }
});

test('an entry of the target itself takes precedence over the shared one', async () => {
  const { targets } = await bindings(
    'github: { enabled: true, token: env:ONE }\ngithub_labels: { enabled: true, token: env:TWO }',
  );
  assert.deepEqual(
    ['github_labels', 'github_issue'].map((name) => targets[name]?.credentials.token),
    [
      { kind: 'env', value: 'TWO', scope: 'default' },
      { kind: 'env', value: 'ONE', scope: 'default' },
    ],
  );
});

test('half of an app, an app and a host of gh, and a target that is not configured', async () => {
  assert.deepEqual((await bindings('github: { enabled: true, app_id: 5 }')).errors, ['`app_id` `private_key`']);
  const both = await bindings('github: { enabled: true, app_id: 5, private_key: file:k, host: ghe.example }');
  assert.deepEqual(both.errors, ['`host` `app_id`']);
  const output = 'outputs: { o: { deliver: github_check, repo: o/r, name: n, sha: "{sha}" } }';
  const { diagnostics } = await bindings('github: { enabled: true, token: env:T }', output);
  const found = diagnostics.find(({ rule }) => rule === 'target-not-enabled');
  for (const named of ['`app_id`', '`private_key`', '`platforms.github`'])
    assert.ok(found?.hint?.includes(named), found?.hint);
});
