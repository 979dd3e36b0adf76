import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../../../cli/base/errors.ts';
import type { SetupPlan } from '../../../../modules/setup/cli/setup/plan-setup.ts';
import { planSetup } from '../../../../modules/setup/cli/setup/plan-setup.ts';
import { parseAnswers } from '../../../../modules/setup/cli/setup/wizard.ts';

const plan = (config: unknown, ...pairs: string[]): SetupPlan =>
  planSetup(parseAnswers(pairs), {
    config,
    generateSecret: () => 'generated',
  });

const plans: readonly (readonly [string, unknown, string[], SetupPlan])[] = [
  [
    'a console gets a token',
    {},
    ['gateway.console.port=9001', 'gateway.console.viewer_token=generate'],
    {
      edits: [
        { path: ['gateway', 'console', 'port'], value: 9001 },
        { path: ['gateway', 'console', 'viewer_token'], value: 'env:CONSOLE_VIEWER_TOKEN' },
        { path: ['gateway', 'console', 'token'], value: 'env:CONSOLE_TOKEN' },
      ],
      env: { CONSOLE_TOKEN: 'generated', CONSOLE_VIEWER_TOKEN: 'generated' },
    },
  ],
  [
    'a console keeps the token it has',
    { gateway: { console: { token: 'env:MINE' } } },
    ['gateway.console.port=9001'],
    { edits: [{ path: ['gateway', 'console', 'port'], value: 9001 }], env: {} },
  ],
  [
    'a console that is switched off gets none',
    {},
    ['gateway.console=null'],
    { edits: [{ path: ['gateway', 'console'], value: '' }], env: {} },
  ],
  [
    'settings go where the adapter has none yet',
    {},
    ['enabled=true', 'port=9000'],
    {
      edits: [
        { path: ['platforms', 'webhook', 'enabled'], value: true },
        { path: ['platforms', 'webhook', 'port'], value: 9000 },
      ],
      env: {},
    },
  ],
  [
    'settings go to extra where it is used, and stay where they are',
    { platforms: { webhook: { host: 'x', extra: { port: 1 } } } },
    ['host=y', 'port=2', 'secret=file:s'],
    {
      edits: [
        { path: ['platforms', 'webhook', 'host'], value: 'y' },
        { path: ['platforms', 'webhook', 'extra', 'port'], value: 2 },
        { path: ['platforms', 'webhook', 'extra', 'secret'], value: 'file:s' },
      ],
      env: {},
    },
  ],
  [
    'a generated secret goes to .env',
    {},
    ['secret=generate'],
    {
      edits: [{ path: ['platforms', 'webhook', 'secret'], value: 'env:WEBHOOK_SECRET' }],
      env: { WEBHOOK_SECRET: 'generated' },
    },
  ],
  [
    'a route is made, with the words of subscribe',
    {},
    ['route=hello', 'route.events=push,issues', 'route.prompt={title}'],
    {
      edits: [
        { path: ['platforms', 'webhook', 'routes', 'hello'], value: { events: ['push', 'issues'], prompt: '{title}' } },
      ],
      env: {},
    },
  ],
  [
    'a route that is there keeps what is not named',
    { platforms: { webhook: { extra: { routes: { hello: { prompt: 'x', toolsets: ['web'] } } } } } },
    ['route=hello', 'route.events=push'],
    {
      edits: [
        {
          path: ['platforms', 'webhook', 'extra', 'routes', 'hello'],
          value: { prompt: 'x', toolsets: ['web'], events: ['push'] },
        },
      ],
      env: {},
    },
  ],
  [
    'any other setting is put at its place',
    {},
    ['agent.command=[my-agent, --print]', 'gateway.drain_seconds=5'],
    {
      edits: [
        { path: ['agent', 'command'], value: ['my-agent', '--print'] },
        { path: ['gateway', 'drain_seconds'], value: 5 },
      ],
      env: {},
    },
  ],
];
for (const [name, config, pairs, expected] of plans)
  test(name, () => assert.deepEqual(plan(config, ...pairs), expected));

const refused: readonly (readonly [string[], RegExp])[] = [
  [['port'], /--set/],
  [['port=x'], /\bport\b/],
  [['enabled=yes'], /\benabled\b/],
  [['prot=1'], /"prot"/],
  [['route.events=x'], /--set route=<name>/],
  [['route=a', 'route.toolsets=x'], /"toolsets"/],
  [['gateway.x=[1'], /\bYAML\b/],
];
for (const [pairs, expected] of refused) {
  test(`rejects ${pairs.join(' ')}`, () =>
    assert.throws(
      () => parseAnswers(pairs),
      (error) => error instanceof UsageError && expected.test(error.message),
    ));
}
