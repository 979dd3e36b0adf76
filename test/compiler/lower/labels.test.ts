/** Every place stores the name that it uses; the table has the canonical one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entryLabel, schemeLabel, targetLabel } from '../../../base/text.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import { compileConfig, printed } from '../../helpers/compile.ts';

const config = (routes: string, rest = ''): string => `platforms:
  webhook: { enabled: true, secret: env:WEBHOOK_SECRET, routes: { ${routes} } }
${rest}`;

function tableOf(text: string): RouteTable {
  const { output, ...result } = compileConfig(text);
  assert.ok(output !== null, printed({ output, ...result }));
  return output.table;
}

const deliverOf = ({ routes }: RouteTable, name: string) =>
  routes[name]?.deliver.map((delivery) => [delivery.target, targetLabel(delivery)]);

test('two routes name one target in two ways, each with its own name', () => {
  const table = tableOf(
    config(
      'a: { prompt: x, deliver: messenger_a }, b: { prompt: x, deliver: telegram }, c: { prompt: x, deliver: [tg, telegram, log] }',
      '  tg: { enabled: true, token: env:T, home_channel: "1" }\n',
    ),
  );
  assert.deepEqual(deliverOf(table, 'a'), [['telegram', 'messenger_a']]);
  assert.deepEqual(deliverOf(table, 'b'), [['telegram', 'telegram']]);
  assert.deepEqual(deliverOf(table, 'c'), [
    ['telegram', 'tg'],
    ['log', 'log'],
  ]);
  const profile = table.profiles.default;
  assert.ok(profile !== undefined);
  assert.equal(entryLabel(profile, 'telegram'), 'tg');
  assert.equal(entryLabel(profile, 'slack'), 'slack');
});

test('an output, a job and the messages of the gateway, too', () => {
  const table = tableOf(
    config(
      'a: { prompt: x, on_failure: { deliver: messenger_a }, outputs: { s: { deliver: forgeb_status, project: g/p, sha: "{sha}", name: x } } }',
      `  gitlab: { enabled: true, token: env:T }
  telegram: { enabled: true, token: env:T, home_channel: "1" }
jobs: { j: { schedule: 0 9 * * *, prompt: x, deliver: messenger_a } }
gateway: { alerts: { deliver: messenger_a } }
`,
    ),
  );
  const { routes, jobs, gateway, profiles } = table;
  assert.deepEqual(
    routes.a?.outputs?.map(({ delivery }) => [delivery.target, delivery.label]),
    [['gitlab_status', 'forgeb_status']],
  );
  for (const [delivery] of [routes.a?.on_failure ?? [], jobs.j?.deliver ?? [], gateway.alerts?.deliver ?? []])
    assert.deepEqual([delivery?.target, delivery?.label], ['telegram', 'messenger_a']);
  // The entry configures the note and targets like it, but names only the note.
  assert.deepEqual(
    ['gitlab_note', 'gitlab_status', 'telegram'].map((name) => profiles.default?.targets[name]?.label),
    ['gitlab', undefined, undefined],
  );
});

test('a sender has the name of the route for it', () => {
  const { routes } = tableOf(
    config(
      'a: { prompt: x, source: forgea }, b: { prompt: x, source: github }, c: { prompt: x, auth: [forgeb, github] }',
    ),
  );
  const shown = ['a', 'b', 'c'].map((name) => {
    const { source = null, schemes = [], ...route } = routes[name] ?? {};
    return [source, ...schemes].map((scheme) => (scheme === null ? null : schemeLabel(route, scheme)));
  });
  assert.deepEqual(shown, [
    ['forgea', 'forgea'],
    ['github', 'github'],
    [null, 'github', 'forgeb'],
  ]);
  assert.deepEqual([routes.a?.source, routes.a?.schemes], ['github', ['github']]);
});
