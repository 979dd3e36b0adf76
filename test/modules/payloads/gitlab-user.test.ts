/** Checks that users in GitLab's hooks have the documented fields, and that a slip in one of them is a hint, nothing more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileConfig } from '../../helpers/compile.ts';

const HOOKS = [
  'Issue Hook',
  'Note Hook',
  'Merge Request Hook',
  'Pipeline Hook',
  'Job Hook',
  'Wiki Page Hook',
  'Emoji Hook',
];

for (const hook of HOOKS) {
  test(hook, () => {
    const rulesOf = (path: string): readonly string[] =>
      compileConfig(
        `platforms: { webhook: { enabled: true, secret: env:S, routes: { a: { source: gitlab, events: ["${hook}"], prompt: "{${path}}" } } } }\n`,
      )
        .diagnostics.filter(({ rule }) => rule === 'unknown-payload-path')
        .map(({ severity, message, fix }) => `${severity} ${message} ${fix === undefined}`);
    for (const path of ['user.name', 'user.usrnamee', 'user.email', 'user.id', 'user.avatar_url'])
      assert.deepEqual(rulesOf(path), [], path);
    assert.match(rulesOf('user.usrname').join(), /^hint .*user\.username.* true$/);
    assert.deepEqual(rulesOf('user.nickname'), []);
  });
}
