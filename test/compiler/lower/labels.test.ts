import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelIn } from '../../../base/text.ts';
import { compileConfig, printed } from '../../helpers/compile.ts';

const config = (route: string, platforms: string): string => `platforms:
  webhook: { enabled: true, secret: env:WEBHOOK_SECRET, routes: { a: { prompt: x, ${route} } } }
${platforms}`;

function labels(text: string): (target: string) => string {
  const { output, ...result } = compileConfig(text);
  assert.ok(output !== null, printed({ output, ...result }));
  return (name) => labelIn({ ...output.table.targets, ...output.table.schemes }, name);
}

test('a target is shown as the config writes it, where it is set up before where it is used', () => {
  const shown = labels(config('deliver: messenger_a', '  tg: { enabled: true, token: env:T, home_channel: "1" }\n'));
  assert.equal(shown('messenger_a'), 'tg');
  assert.equal(labels(config('deliver: messenger_a', ''))('messenger_a'), 'messenger_a');
});

test('so is the target of an output', () => {
  const shown = labels(
    config(
      'outputs: { s: { deliver: gitlab_status, project: g/p, sha: "{sha}", name: x } }',
      '  gitlab: { enabled: true, token: env:T }\n',
    ),
  );
  assert.deepEqual(['forgeb_status', 'forgeb_note'].map(shown), ['gitlab_status', 'gitlab']);
});

test('a name that people know where it is used comes before that of what sets it up', () => {
  const shown = labels(
    config(
      'deliver: gitlab_note, deliver_extra: { project: g/p, issue: "3" }',
      '  gitlab: { enabled: true, token: env:T }\n',
    ),
  );
  assert.equal(shown('forgeb_note'), 'gitlab_note');
});

test('what the config does not name is shown as people know it', () => {
  const shown = labels(config('deliver: log', ''));
  assert.deepEqual(['messenger_a', 'workspace_chat', 'email', 'log'].map(shown), ['telegram', 'slack', 'email', 'log']);
  assert.deepEqual(['forgea', 'stripe', 'generic-v2'].map(shown), ['github', 'stripe', 'generic-v2']);
});

test('a sender is shown as the config writes it', () => {
  assert.equal(labels(config('source: forgea', ''))('forgea'), 'forgea');
  assert.equal(labels(config('auth: [github]', ''))('forgea'), 'github');
});
