/** Accepts the specification's names of senders and targets wherever a name is allowed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SPEC_NAMES } from '../../base/spec-names.ts';
import { entryLabel, targetLabel } from '../../base/text.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import { CATALOG, compileConfig, compileFiles, printed } from '../helpers/compile.ts';
import { readTargetFile } from '../helpers/targets.ts';

/** §4.4, and §1 for senders. Names without a token are already canonical. */
const TARGETS = [
  ...['log', 'forgea_comment', 'messenger_a', 'community_chat', 'workspace_chat', 'private_messenger', 'sms'],
  ...['mobile_messenger', 'matrix', 'team_chat', 'smarthome', 'email', 'workchat_cn_a', 'workchat_cn_b'],
  ...['workchat_cn_c', 'social_cn', 'imessage_bridge', 'chat_cn_d'],
];
const SOURCES = ['standard-webhooks', 'svix', 'forgea', 'forgeb', 'generic-v2', 'generic-v1'];

function tableOf(result: ReturnType<typeof compileConfig>): RouteTable {
  assert.ok(result.output !== null, printed(result));
  return result.output.table;
}

const config = (route: string, rest = ''): string => `platforms:
  webhook: { enabled: true, secret: env:SECRET, routes: { r: { prompt: x, ${route} } } }
${rest}`;

/** An example chat of the target, from its catalog entry. */
function exampleOf(name: string): string {
  const { address = {}, variants = {} } = readTargetFile(realOf(name));
  const all = [address, ...Object.values(variants).map((variant) => variant.address ?? {})];
  return all.flatMap(({ chat_id }) => chat_id?.example ?? [])[0] ?? '1';
}

/** Whether the target has no address. */
const isKept = (name: string): boolean => name === 'log';

const realOf = (token: string): string => (SPEC_NAMES.target as Readonly<Record<string, string>>)[token] ?? token;

test('the list has exactly the tokens that are aliases in the catalog', () => {
  for (const kind of ['source', 'target'] as const) {
    const entries: Readonly<Record<string, { readonly aliases?: readonly string[] }>> = CATALOG[`${kind}s`];
    for (const [token, name] of Object.entries(SPEC_NAMES[kind])) {
      assert.equal(entries[token], undefined);
      assert.ok(entries[name]?.aliases?.includes(token), `${name} is also called ${token}`);
    }
    assert.deepEqual(
      Object.keys(entries).filter((name) => /^forge[ab]|_chat$|_cn_?|^messenger_|_messenger$|_bridge$/.test(name)),
      [],
    );
  }
});

describe('a target of the specification', () => {
  for (const name of TARGETS) {
    test(`${name}: as \`deliver\`, in \`deliver_extra\`, of a job, and under \`platforms\``, () => {
      const address = name === 'forgea_comment' ? '{ repo: o/r, pr_number: "1" }' : '{ chat_id: "{id}" }';
      const extra = isKept(name) ? '' : `, deliver_extra: { ${name}: ${address} }`;
      const to = `deliver: ${name}${extra.replace('{id}', exampleOf(name))}`;
      const entry = isKept(name) ? '' : `  ${name}: { enabled: false }\n`;
      const job = `jobs: { j: { schedule: 0 9 * * *, prompt: x, ${to} } }\n`;
      const table = tableOf(compileConfig(config(`deliver: [${name}]${extra}, on_failure: { ${to} }`, entry + job)));
      const real = realOf(name);
      assert.equal(table.target_names[name], real);
      assert.ok(Object.hasOwn(table.targets, real));
      const deliveries = [table.routes.r?.deliver, table.routes.r?.on_failure, table.jobs.j?.deliver].flat();
      for (const delivery of deliveries)
        assert.deepEqual(delivery && [delivery.target, targetLabel(delivery)], [real, name]);
      assert.equal(deliveries.length, 3);
    });
  }
});

test('a sender of the specification: as `source`, and in `auth`', () => {
  for (const name of SOURCES) {
    const { scheme } = tableOf(compileConfig(config(`source: ${name}`))).sources[name] ?? assert.fail(name);
    assert.deepEqual(tableOf(compileConfig(config(`auth: [${name}]`))).routes.r?.schemes, [scheme]);
  }
});

describe('an entry of the home with a name of the specification', () => {
  const mine = `title: Mine
settings: { token: { secret: true, help: A token. } }
address: { chat_id: { required: true, help: A chat. } }
base: https://mine.example
request: { path: /send, json: { to: "{chat_id}", text: "{text}" } }
text: { limit: 100 }
success: { status: 200 }
`;
  const route = config(
    'deliver: telegram, deliver_extra: { chat_id: "1" }',
    '  messenger_a: { enabled: true, token: env:T }\n',
  );

  for (const file of ['messenger_a', 'telegram']) {
    test(`${file}: replaces the shipped one under both names`, () => {
      const { targets, target_names, profiles, routes } = tableOf(
        compileFiles({ 'hookwright.yaml': route, [`~/.hookwright/catalog/targets/${file}.yaml`]: mine }),
      );
      assert.equal(targets.telegram?.title, 'Mine');
      assert.deepEqual([target_names.telegram, target_names.messenger_a], ['telegram', 'telegram']);
      assert.equal(targets.messenger_a, undefined);
      assert.equal(entryLabel(profiles.default ?? assert.fail(), 'telegram'), 'messenger_a');
      assert.equal(routes.r?.deliver[0]?.target, 'telegram');
    });
  }

  test('in the config itself, and a source', () => {
    const own = `${route}targets:\n  messenger_a:\n${mine.replace(/^(?=.)/gm, '    ')}sources:
  forgea: { verify: token, signature: { header: X-Mine } }
`;
    const { targets, schemes, sources } = tableOf(compileConfig(own));
    assert.equal(targets.telegram?.title, 'Mine');
    assert.equal(schemes.github?.verify, 'token');
    assert.deepEqual([sources.forgea?.scheme, sources.github?.scheme], ['github', 'github']);
  });

  test('may use names of the specification in like, driver, causes and own_sender', () => {
    const { targets, schemes } = tableOf(
      compileFiles({
        'hookwright.yaml': config('deliver: log'),
        '~/.hookwright/catalog/targets/gh2.yaml':
          'title: Another\ndriver: forgea_comment\naddress: { repo: { required: true, help: A place. } }\ncauses: [{ source: forgea, events: [push], author: [sender.login], text: [x] }]\n',
        '~/.hookwright/catalog/sources/mine.yaml':
          'verify: token\nsignature: { header: X-Mine }\nown_sender: [{ field: a.b, target: forgea_comment, setting: login }]\n',
      }),
    );
    assert.equal(targets.gh2?.driver, 'github_comment');
    assert.deepEqual(targets.gh2?.comes_back, ['github']);
    assert.equal(schemes.mine?.own_sender?.[0]?.target, 'github_comment');
  });
});
