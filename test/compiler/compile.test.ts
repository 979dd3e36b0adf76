import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RouteTable } from '../../schemas/generated/types.ts';
import { compileConfig, compileFiles, HOME, printed } from '../helpers/compile.ts';
import { schemaValidator } from '../helpers/schema-validator.ts';

const CONFIG = `
platforms:
  webhook:
    enabled: true
    port: 1000
    extra: { port: 2000, host: 127.0.0.1 }
    secret: env:FROM_CONFIG
    routes:
      alerts: { prompt: "{title}" }
`;

function table(config: string, input: Parameters<typeof compileConfig>[1] = {}): RouteTable {
  const result = compileConfig(config, input);
  assert.ok(result.output !== null, printed(result));
  return result.output.table;
}

const rules = (result: ReturnType<typeof compileConfig>): readonly string[] =>
  result.diagnostics.map(({ rule }) => rule);

test('the table matches its schema', () => {
  const result = compileConfig(CONFIG);
  assert.ok(result.output !== null);
  assert.deepEqual(schemaValidator('route-table')(JSON.parse(result.output.routesJson)), []);
});

test('the same input gives the same bytes, in any order of files', () => {
  const part = (name: string) => `platforms: { webhook: { routes: { ${name}: { prompt: x } } } }`;
  const files = { 'a.yaml': part('one'), 'b.yaml': part('two'), 'hookwright.yaml': CONFIG };
  const first = compileFiles(files, { configs: ['hookwright.yaml', 'a.yaml', 'b.yaml'] });
  const second = compileFiles(files, { configs: ['hookwright.yaml', 'b.yaml', 'a.yaml'] });
  assert.ok(first.output !== null && second.output !== null);
  assert.equal(first.output.routesJson, second.output.routesJson);
  assert.deepEqual(first.output.catalog(), second.output.catalog());
});

describe('precedence over the config file', () => {
  const port = (env: Record<string, string>, dotenv = '', flags = {}): number | undefined => {
    const files = { 'hookwright.yaml': CONFIG, '~/.hookwright/.env': dotenv };
    return compileFiles(files, { env, flags }).output?.table.server.port;
  };
  test('extra overrides the key next to it', () => assert.equal(port({}), 2000));
  test('.env overrides the config', () => assert.equal(port({}, 'WEBHOOK_PORT=3000'), 3000));
  test('the environment overrides .env', () => assert.equal(port({ WEBHOOK_PORT: '4000' }, 'WEBHOOK_PORT=3000'), 4000));
  test('a flag overrides the environment', () =>
    assert.equal(port({ WEBHOOK_PORT: '4000' }, '', { port: 5000 }), 5000));
  test('an empty variable counts as unset', () => assert.equal(port({ WEBHOOK_PORT: '' }), 2000));

  for (const [name, value] of [
    ['WEBHOOK_PORT', '80a'],
    ['WEBHOOK_PORT', '70000'],
    ['WEBHOOK_PORT', '-1'],
    ['WEBHOOK_ENABLED', 'maybe'],
  ]) {
    test(`${name}=${value} is refused`, () => {
      const result = compileConfig(CONFIG, { env: { [name ?? '']: value } });
      assert.deepEqual(rules(result), ['invalid-environment', 'shadowed-setting']);
      assert.equal(result.output, null);
    });
  }

  test('WEBHOOK_ENABLED enables and disables the server', () => {
    const off = CONFIG.replace('    enabled: true\n', '');
    assert.equal(table(off, { env: { WEBHOOK_ENABLED: 'true' } }).server.enabled, true);
    assert.equal(table(CONFIG, { env: { WEBHOOK_ENABLED: '0' } }).server.enabled, false);
    assert.equal(table(off).server.enabled, false);
  });

  test('WEBHOOK_SECRET replaces the global secret by reference: its value is not in the table', () => {
    const result = compileConfig(CONFIG, { env: { WEBHOOK_SECRET: 'canary-9fQx-71b' } });
    assert.deepEqual(result.output?.table.server.secret, { kind: 'env', value: 'WEBHOOK_SECRET', scope: 'default' });
    assert.ok(!result.output?.routesJson.includes('canary-9fQx-71b'));
    assert.equal(result.output?.hasLiteralSecrets, false);
  });
});

describe('INSECURE_NO_AUTH is checked against the effective host', () => {
  const route = (host: string, secret = 'INSECURE_NO_AUTH', more = '') =>
    `platforms:\n  webhook:\n    enabled: true\n    host: ${host}\n${more}    routes:\n      open: { secret: ${secret}, prompt: x }\n`;
  const accepted: readonly (readonly [string, string, Parameters<typeof compileConfig>[1]])[] = [
    ['127.0.0.1', route('127.0.0.1'), {}],
    ['localhost', route('localhost'), {}],
    ['::1', route('"::1"'), {}],
    ['a flag that makes it loopback', route('0.0.0.0'), { flags: { host: '127.0.0.1' } }],
    ['extra that makes it loopback', route('0.0.0.0', undefined, '    extra: { host: localhost }\n'), {}],
  ];
  for (const [name, config, input] of accepted) {
    test(`accepted: ${name}`, () => {
      const { routes } = table(config, input);
      assert.equal(routes.open?.insecure, true);
      assert.deepEqual(routes.open?.secrets, []);
      assert.deepEqual(routes.open?.schemes, []);
    });
  }
  const refused: readonly (readonly [string, string, Parameters<typeof compileConfig>[1]])[] = [
    ['every address', route('0.0.0.0'), {}],
    ['an empty host', route('""'), {}],
    ['a LAN address', route('192.168.1.2'), {}],
    ['another loopback address', route('127.0.0.2'), {}],
    ['a name that only looks like it', route('localhost.example.org'), {}],
    ['extra that exposes it', route('127.0.0.1', undefined, '    extra: { host: 0.0.0.0 }\n'), {}],
    ['a flag that exposes it', route('127.0.0.1'), { flags: { host: '::' } }],
    ['a variable that exposes it', route('127.0.0.1'), { env: { WEBHOOK_HOST: '0.0.0.0' } }],
    ['the word in the environment', route('0.0.0.0', 'env:OPEN'), { env: { OPEN: 'INSECURE_NO_AUTH' } }],
    [
      'the word among several secrets',
      route('0.0.0.0').replace('secret: INSECURE_NO_AUTH', 'secrets: [env:A, INSECURE_NO_AUTH]'),
      {},
    ],
    [
      'the word as the global secret',
      route('0.0.0.0', 'x')
        .replace('secret: x, ', '')
        .replace('    routes', '    secret: INSECURE_NO_AUTH\n    routes'),
      {},
    ],
  ];
  for (const [name, config, input] of refused) {
    test(`refused: ${name}`, () => assert.ok(rules(compileConfig(config, input)).includes('insecure-bind')));
  }
});

describe('profiles', () => {
  const work = `
platforms:
  telegram: { enabled: true, token: env:BOT, home_channel: "-1" }
agent: { command: [work-agent, "{toolsets}"] }
platform_toolsets: { webhook: [web_search] }
jobs:
  daily: { schedule: "0 8 * * *", prompt: Report. }
`;
  const config = (multiplex: boolean) => `
platforms:
  webhook:
    enabled: true
    secret: env:S
    routes:
      theirs: { profile: work, prompt: x, deliver: messenger_a }
      job: { profile: work, cron_job: daily, prompt: x }
gateway: { multiplex_profiles: ${multiplex} }
jobs:
  daily: { schedule: "0 9 * * *", prompt: Mine. }
`;
  const files = (multiplex: boolean) => ({
    'hookwright.yaml': config(multiplex),
    '~/.hookwright/profiles/work/config.yaml': work,
    '~/.hookwright/profiles/empty/skills/x/SKILL.md': '',
  });

  test('each has its own targets, agent, toolsets and jobs; its references carry its name', () => {
    const result = compileFiles(files(true));
    assert.ok(result.output !== null, printed(result));
    const { profiles, jobs, routes } = result.output.table;
    assert.deepEqual(Object.keys(profiles).sort(), ['default', 'empty', 'work']);
    assert.equal(profiles.work?.home, 'profiles/work');
    assert.deepEqual(profiles.work?.targets.telegram?.credentials.token, {
      kind: 'env',
      value: 'BOT',
      scope: 'work',
    });
    assert.equal(profiles.default?.targets.telegram, undefined);
    assert.equal(profiles.work?.agent.kind, 'command');
    assert.deepEqual(routes.theirs?.toolsets, ['web_search']);
    assert.deepEqual(Object.keys(jobs).sort(), ['daily', 'work/daily']);
    assert.equal(routes.job?.cron_job, 'work/daily');
    assert.deepEqual(result.diagnostics, [], printed(result));
  });

  test('without multiplexing, other profiles are ignored', () => {
    const result = compileFiles(files(false));
    assert.deepEqual(Object.keys(result.output?.table.profiles ?? {}), []);
    assert.deepEqual(new Set(rules(result)), new Set(['unreachable-route', 'unknown-job']));
  });
});

describe('catalog of the user', () => {
  const target = `
title: Mine
aliases: [my_chat]
settings: { token: { secret: true, required: true, help: Token. } }
address: { chat_id: { help: Chat. } }
base: https://chat.example.org
request: { path: /send, json: { to: "{chat_id}", text: "{text}" }, headers: { authorization: "{token}" } }
text: { limit: 100 }
success: { status: 200 }
`;
  test('adds targets, and replaces shipped ones with all their names', () => {
    const result = compileFiles({
      'hookwright.yaml': CONFIG,
      '~/.hookwright/catalog/targets/messenger_a.yaml': target,
      '~/.hookwright/catalog/targets/pager.yml': target.replace('my_chat', 'beeper'),
    });
    assert.ok(result.output !== null, printed(result));
    const { targets, target_names } = result.output.table;
    assert.equal(targets.telegram?.title, 'Mine');
    assert.deepEqual([target_names.my_chat, target_names.messenger_a], ['telegram', 'telegram']);
    assert.equal(target_names.tg, undefined);
    assert.equal(target_names.beeper, 'pager');
  });

  test('reports its faults in its own files, without consequences for routes', () => {
    const result = compileFiles({
      'hookwright.yaml': CONFIG.replace('{title}"', '{title}", deliver: pager'),
      '~/.hookwright/catalog/targets/pager.yaml': target.replace('{token}', '{tokn}'),
      '~/.hookwright/catalog/sources/x.yaml': 'verify: magic',
      '~/.hookwright/catalog/blueprints/b.yaml': 'key: b',
    });
    const found = result.diagnostics.map(
      ({ rule, source }) => `${source.path.replace(`${HOME}/catalog/`, '')} ${rule}`,
    );
    assert.ok(found.includes('targets/pager.yaml target-value'));
    assert.ok(found.includes('sources/x.yaml invalid-value'));
    assert.ok(found.some((line) => line.startsWith('blueprints/b.yaml missing-key')));
    assert.ok(!rules(result).includes('unknown-target'));
  });
});

test('`cron_job` may name a job of the store', () => {
  const config = CONFIG.replace('{ prompt: "{title}" }', '{ cron_job: nightly }');
  assert.ok(rules(compileConfig(config)).includes('unknown-job'));
  const job = { id: 'j1', name: 'nightly', profile: 'default' };
  assert.equal(table(config, { jobs: [job] }).routes.alerts?.cron_job, 'j1');
  assert.ok(rules(compileConfig(config, { jobs: [job, { ...job, id: 'j2' }] })).includes('unknown-job'));
  assert.ok(rules(compileConfig(config, { jobs: [{ ...job, profile: 'work' }] })).includes('unknown-job'));
});

test('returns the paths that a result depends on, including missing ones', () => {
  const { inputs } = compileFiles({ 'hookwright.yaml': 'include: [gone.yaml, "p/*.yaml"]', 'p/a.yaml': '' });
  for (const path of ['/project/hookwright.yaml', '/project/gone.yaml', '/project/p', '/project/p/a.yaml']) {
    assert.ok(inputs.includes(path), path);
  }
  assert.ok(compileConfig(CONFIG).inputs.includes(`${HOME}/.env`));
});

test('a route records its file, relative to the root config, and its line', () => {
  const routes = 'platforms: { webhook: { routes: {\n  one: { prompt: x } } } }';
  const result = compileFiles(
    { '/etc/hooks/config.yaml': `include: [../shared/*.yaml]\n${CONFIG}`, '/etc/shared/routes.yaml': routes },
    { configs: ['/etc/hooks/config.yaml'], allowed: ['/etc/shared'] },
  );
  assert.deepEqual(result.output?.table.routes.one?.at, { file: '../shared/routes.yaml', line: 2 });
  assert.deepEqual(result.output?.table.routes.alerts?.at, { file: 'config.yaml', line: 10 });
  assert.equal(result.root, '/etc/hooks/config.yaml');
});

describe('literal secrets and digits', () => {
  const profile = 'platforms: { telegram: { enabled: true, token: "8831-AAHq9fQx-zz", home_channel: 1e3 } }';
  const files = (mode: number) => ({
    'hookwright.yaml': {
      content: `${CONFIG.replace('env:FROM_CONFIG', 'a-literal-secret-of-some-length')}gateway: { multiplex_profiles: true }\n`,
      mode,
    },
    '~/.hookwright/profiles/work/config.yaml': { content: profile, mode },
  });
  const found = (mode: number) =>
    compileFiles(files(mode))
      .diagnostics.filter(({ rule }) => rule !== 'shadowed-setting')
      .map(({ rule, source }) => `${source.name} ${rule}`);

  test('reports them once for each file of any profile that others can read', () => {
    const exposed = ['/home/user/.hookwright/profiles/work/config.yaml', 'hookwright.yaml'];
    assert.deepEqual(
      found(0o640).filter((line) => line.endsWith('secret-exposed')),
      exposed.map((name) => `${name} secret-exposed`),
    );
    assert.ok(!found(0o600).some((line) => line.endsWith('secret-exposed')));
  });
  test('reports a number that loses digits when used as text', () => {
    assert.ok(found(0o600).includes('/home/user/.hookwright/profiles/work/config.yaml lost-digits'));
  });
});

describe('no cascades', () => {
  const base = (route: string, more = '') =>
    `platforms:\n  webhook:\n    enabled: true\n    routes:\n      a: ${route}\n${more}`;
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    [
      'a misspelt key is not missing as well, and the rest of its route is judged',
      base('{ secert: env:A, deliver_only: true, deliver: log, prompt: x }'),
      ['unknown-key', 'deliver-only-target'],
    ],
    [
      'an unknown key changes nothing else',
      base('{ zzz: 1, deliver_only: true, deliver: log, secret: env:A, prompt: x }'),
      ['unknown-key', 'deliver-only-target'],
    ],
    ['a misspelt mode leaves the mode open', base('{ deliver_onyl: true, secret: env:A }'), ['unknown-key']],
    [
      'a job at fault is not unknown',
      base('{ secret: env:A, cron_job: r }', 'jobs: { r: { prompt: x } }\n'),
      ['missing-key'],
    ],
    [
      'a job with a bad schedule is not unknown',
      base('{ secret: env:A, cron_job: r }', 'jobs: { r: { prompt: x, schedule: never } }\n'),
      ['invalid-schedule'],
    ],
    [
      'a target at fault is not off',
      base('{ secret: env:A, deliver: telegram, prompt: x }', '  telegram: { enabled: true, token: [] }\n'),
      ['wrong-type'],
    ],
    [
      'a target without credentials is not off',
      base(
        '{ secret: env:A, deliver: telegram, prompt: x, deliver_extra: { chat_id: 1 } }',
        '  tg: { enabled: true }\n',
      ),
      ['missing-setting'],
    ],
    [
      'a source at fault is not unknown',
      base('{ secret: env:A, source: s, prompt: x }', 'sources: { s: { verify: magic } }\n'),
      ['invalid-value'],
    ],
    [
      'a global secret at fault is not missing',
      base('{ prompt: x }').replace('    routes', '    secret: 12\n    routes'),
      ['wrong-type'],
    ],
  ];
  for (const [name, config, expected] of cases) {
    test(name, () => {
      const result = compileConfig(config);
      assert.deepEqual(rules(result), expected, printed(result));
    });
  }
});
