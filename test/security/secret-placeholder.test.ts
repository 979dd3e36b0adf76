/** Tests that a placeholder is never accepted as a secret or credential. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { printPretty } from '../../compiler/print/print-pretty.ts';
import { placeholderIn } from '../../compiler/text/placeholders.ts';
import type { TestFiles } from '../helpers/compile.ts';
import { compileFiles } from '../helpers/compile.ts';
import { ROOT } from '../helpers/root.ts';
import { runsOf } from '../helpers/sample.ts';

const REAL = 'kd83Hs0-qP2xVb71_tYw';

const json = JSON.stringify;
const config = (secret: string, more = ''): string =>
  `platforms: { webhook: { enabled: true, secret: ${json(secret)}, routes: { a: { prompt: x } } } }\n${more}`;

/** Rule, hint and highlighted text of every error. */
const errorsOf = (files: TestFiles, env: Readonly<Record<string, string>> = {}) =>
  compileFiles(files, { env: { HOME: '/home/user', ...env } })
    .diagnostics.filter(({ severity }) => severity === 'error')
    .map(({ rule, hint, source, range }) => ({ rule, hint, at: source.text.slice(range.start, range.end) }));

const VARIABLES: Readonly<Record<string, string>> = {
  '${WEBHOOK_SECRET}': 'WEBHOOK_SECRET',
  '${WEBHOOK_SECRET:-x}': 'WEBHOOK_SECRET',
  $WEBHOOK_SECRET: 'WEBHOOK_SECRET',
  'pre-${WEBHOOK_SECRET}': 'WEBHOOK_SECRET',
  '${{ secrets.HOOK_SECRET }}': 'HOOK_SECRET',
  '{{ HOOK_SECRET }}': 'HOOK_SECRET',
  '{{ .Env.HOOK_SECRET }}': 'HOOK_SECRET',
  '{HOOK_SECRET}': 'HOOK_SECRET',
  '%HOOK_SECRET%': 'HOOK_SECRET',
  '#{HOOK_SECRET}': 'HOOK_SECRET',
  'ENV:HOOK_SECRET': 'HOOK_SECRET',
  'Env: HOOK_SECRET': 'HOOK_SECRET',
  ' env:HOOK_SECRET': 'HOOK_SECRET',
  'env HOOK_SECRET': 'HOOK_SECRET',
  'env(HOOK_SECRET)': 'HOOK_SECRET',
  'ENV["HOOK_SECRET"]': 'HOOK_SECRET',
  '$env:HOOK_SECRET': 'HOOK_SECRET',
  '!ENV HOOK_SECRET': 'HOOK_SECRET',
  'process.env.HOOK_SECRET': 'HOOK_SECRET',
  '{env:HOOK_SECRET}': 'HOOK_SECRET',
  '"env:HOOK_SECRET"': 'HOOK_SECRET',
  '<env:HOOK_SECRET>': 'HOOK_SECRET',
  '"HOOK_SECRET"': 'HOOK_SECRET',
  '[HOOK_SECRET]': 'HOOK_SECRET',
  __HOOK_SECRET__: 'HOOK_SECRET',
  '@@HOOK_SECRET@@': 'HOOK_SECRET',
  '%(HOOK_SECRET)s': 'HOOK_SECRET',
  ACME_HOOK_SECRET: 'ACME_HOOK_SECRET',
  'os.environ/HOOK_SECRET': 'HOOK_SECRET',
  'env/HOOK_SECRET': 'HOOK_SECRET',
  'import.meta.env.HOOK_SECRET': 'HOOK_SECRET',
  'System.getenv("HOOK_SECRET")': 'HOOK_SECRET',
  "os.environ['HOOK_SECRET']": 'HOOK_SECRET',
};

const OTHERS = [
  ...[
    '{{ secret }}',
    '{{secret}}',
    '$secret',
    '$(cat /run/secret)',
    '`cat /run/secret`',
    '<%= secret %>',
    'FILE:/run/s',
  ],
  ...['<secret>', '<your-secret>', '[secret]', '<YOUR SECRET HERE>', 'op://vault/item/field', 'vault:secret/data/x'],
  ...[
    'ref+awsssm://x',
    'ENC[AES256_GCM,data:x]',
    'ENC(G6N718UuyPE5bHyWKyuLQSm0)',
    '{cipher}3f2a9c41',
    '{noop}swordfish',
    '@/run/secrets/hook',
    '$ANSIBLE_VAULT;1.1;AES256',
    'arn:aws:secretsmanager:eu-central-1:1:secret:x',
  ],
  ...['changeme', 'CHANGE_ME', 'change-me', 'changeme123', 'change this', 'replace-me', 'REPLACE_WITH_YOUR_SECRET'],
  ...[
    'your-secret',
    'your_secret_here',
    'YOUR_WEBHOOK_SECRET',
    'my-secret',
    'mysecret',
    'super-secret',
    'supersecretkey',
  ],
  ...[
    'secret',
    's3cr3t',
    'secret123',
    'password',
    'passw0rd',
    'token',
    'api-key',
    'test',
    'test-secret',
    'webhook-secret',
  ],
  ...[
    'insert secret here',
    'enter_your_token',
    'put-your-key-here',
    'todo',
    'TODO',
    'FIXME',
    'tbd',
    'none',
    'null',
    'dummy',
  ],
  ...[
    'xxxxxxxxxxxxxxxx',
    '****************',
    '................',
    '…',
    'XXX-XXX',
    'placeholder',
    'example-secret',
    'foobar',
  ],
  ...['00000000-0000-0000-0000-000000000000', 'set me', 'add-a-secret', 'use a long random string', 'putyourkeyhere'],
  ...[
    'a-long-random-text',
    'a long random text',
    'very-long-random-string',
    'ghp_xxxxxxxxxxxxxxxxxxxx',
    'whsec_...',
    'whsec_…',
  ],
  ...[
    'xoxb-xxxx-xxxx-xxxx',
    'sk-XXXXXXXX',
    'AKIAXXXXXXXXXXXXXXXX',
    '123456:xxxxxx',
    'ghp_your_token',
    'sk_live_****************',
  ],
  ...['#{X}', '@{secret}', '%{SECRET}', '(secret)', '((secret))', '@secret', '#secret', '=secret='],
  // Cyrillic с and а, wide letters, a zero-width space, a mark.
  ...['\u0441hangeme', 'ch\u0430nge-me', '\uff53\uff45\uff43\uff52\uff45\uff54', 'change\u200bme', 's\u00e9cret'],
  ...['{file:/run/secrets/x}', 'sops:ENC[AES256_GCM,data:x]', 'secretsmanager:prod/hook', 'ssm:/prod/hook', 'gcp:hook'],
  ...['{{ env "x" }}', 'vault/secret/data/x', 'kv/data/hook', 'op://a/b', 'foo://hooks/secret', 'k8s:ns/secret/key'],
  ...['/run/secrets/hook', './secret.txt', '~/hook.key', 'secret.txt', '!vault x', '{"Ref": "Hook"}', 'ref:x'],
  ...['TODO-replace-with-secret', 'acme-placeholder', 'insert-your-acme-key', 'secret-key', 'my-webhook-secret-1'],
  ...['do-not-use-in-production', 'change_in_production', 'whsec_todo', 'sk_live_your_key', '"changeme"', "'secret'"],
  ...[
    'hunter2',
    'geheimnis123',
    'P@ssw0rd2024!',
    'iloveyou12',
    'password1234567',
    'admin:admin',
    'prometheus:hunter2',
    'superman2024',
  ],
  ...['1234567890123456', '0987654321098765', 'abcdefghijklmnop', '1q2w3e4r5t6y7u8i', 'qwertyuiopasdfgh'],
  ...['1qaz2wsx3edc4rfv', 'aaaaaaaaaaaaaaab', 'abababababababab', 'passwordpassword', 'abc123abc123abc123'],
  // Base64 of placeholders, as in Kubernetes; a sender's prefix; alternating sequences; a manual's sample.
  ...[
    'Y2hhbmdlbWU=',
    'c2VjcmV0',
    'cGFzc3dvcmQ=',
    'aHVudGVyMg==',
    `whsec_${'A'.repeat(32)}`,
    'sk_live_1234567890123456',
  ],
  ...[
    'a1b2c3d4e5f6g7h8',
    '1a2b3c4d5e6f',
    'A1B2C3D4',
    "It's a Secret to Everybody",
    'this is a secret',
    'insecure-secret',
  ],
  ...["#{ENV['HOOK']}", 'awskms:hook', '${X:?unset}', 'vault_webhook_secret', 'gh-secret'],
  ...['it is a placeholder for now', 'this-is-an-example-secret-value', '12345678', '0123456789abcdef'],
];

describe('a variable of another tool, with the correct spelling', () => {
  for (const [text, name] of Object.entries(VARIABLES)) {
    test(text, () => {
      const errors = errorsOf({ 'hookwright.yaml': config(text) });
      assert.deepEqual(errors, [{ rule: 'secret-placeholder', hint: `write \`env:${name}\``, at: json(text) }]);
    });
  }
});

describe('a placeholder', () => {
  for (const text of OTHERS) {
    test(text, () => {
      const [error, ...more] = errorsOf({ 'hookwright.yaml': config(text) });
      assert.equal(error?.rule, 'secret-placeholder');
      assert.match(error?.hint ?? '', /`env:NAME`/);
      assert.deepEqual(more, []);
    });
  }

  test('without quotes', () => {
    const text = `platforms:\n  webhook:\n    enabled: true\n    secret: \${WEBHOOK_SECRET}\n    routes: { a: { prompt: x } }\n`;
    assert.deepEqual(
      errorsOf({ 'hookwright.yaml': text }).map(({ rule }) => rule),
      ['secret-placeholder'],
    );
  });

  test('nothing that may be a secret is repeated', () => {
    const { diagnostics } = compileFiles({ 'hookwright.yaml': config('$hunter2') });
    assert.equal(diagnostics.length, 1);
    assert.ok(!printPretty(diagnostics, { color: false, width: 100 }).includes('hunter2'));
  });
});

describe('another spelling of INSECURE_NO_AUTH names the correct one', () => {
  const SPELLINGS = [
    ...[
      'insecure_no_auth',
      'Insecure-No-Auth',
      'INSECURE NO AUTH',
      'INSECURE_NOAUTH',
      'INSECURE_NO_AUHT',
      'UNSECURE_NO_AUTH',
    ],
    ...[
      'insecure',
      'INSECURE',
      'no_auth',
      'NO-AUTH',
      'none',
      'None',
      'disabled',
      'off',
      'false',
      'skip',
      'no',
      ' INSECURE_NO_AUTH',
    ],
  ];
  for (const text of SPELLINGS) {
    test(text, () => {
      const route = config(REAL).replace('prompt: x', `prompt: x, secret: ${json(text)}`);
      for (const [written, env] of [
        [config(text), {}],
        [route, {}],
        [config('env:HOOK'), { HOOK: text }],
      ] as const) {
        const { diagnostics } = compileFiles(
          { 'hookwright.yaml': { content: written, mode: 0o600 } },
          { env: { HOME: '/', ...env } },
        );
        const [found, ...more] = diagnostics;
        assert.deepEqual([found?.rule, more], ['secret-placeholder', []]);
        assert.match(`${found?.message} ${found?.hint}`, /INSECURE_NO_AUTH/);
      }
    });
  }

  test('not quoted, and not a text', () => {
    const found = errorsOf({ 'hookwright.yaml': config(REAL).replace('prompt: x', 'prompt: x, secret: false') });
    assert.equal(found.length, 1);
    assert.match(found[0]?.hint ?? '', /INSECURE_NO_AUTH/);
  });

  test('a credential has no such spelling', () => {
    const text = config(REAL).replace('} } } }', '} } }, telegram: { enabled: true, token: none } }');
    assert.notEqual(errorsOf({ 'hookwright.yaml': text })[0]?.hint, undefined);
  });
});

describe('wherever a secret is expected', () => {
  const route = (text: string): string => config(REAL).replace('prompt: x', `prompt: x, ${text}`);
  const platform = (text: string): string => config(REAL).replace('} } } }', `} } }, ${text} }`);
  const PLACES: Readonly<Record<string, string>> = {
    "a route's secret": route('secret: changeme'),
    'the second of several': route(`secrets: [${REAL}, changeme]`),
    'one that expires': route(`secrets: [${REAL}, { value: changeme, expires_at: "2099-01-01T00:00:00Z" }]`),
    'a public key': route('source: discord, public_key: "<key>"'),
    'a verify token': route(`source: meta, verify_token: changeme`),
    "a target's credential": platform('telegram: { enabled: true, token: changeme }'),
    'by its alias': platform(`telegram: { enabled: true, bot_token: "\${TELEGRAM_TOKEN}" }`),
    "an incoming webhook's URL": platform('slack: { enabled: true, webhook_url: "<url>" }'),
    'a target that is switched off': platform('telegram: { enabled: false, token: changeme }'),
    "the agent's key": `${config(REAL)}agent: { openai: { base_url: "https://x.example", model: m, api_key: changeme } }\n`,
    'a variable of the agent': `${config(REAL)}agent: { command: [x], env: { LLM_API_KEY: "<key>", DEBUG: test } }\n`,
    'below `extra`': `platforms: { webhook: { enabled: true, extra: { secret: changeme, routes: { a: { prompt: x } } } } }\n`,
  };
  for (const [name, text] of Object.entries(PLACES)) {
    test(name, () => {
      const rules = errorsOf({ 'hookwright.yaml': text }).map(({ rule }) => rule);
      assert.deepEqual(rules, ['secret-placeholder'], text);
    });
  }

  test("a profile's credentials", () => {
    const files = {
      'hookwright.yaml': config(REAL, 'gateway: { multiplex_profiles: true }\n'),
      '~/.hookwright/profiles/ops/config.yaml':
        'platforms: { telegram: { enabled: true, token: "$T" } }\nagent: { openai: { base_url: "https://x.example", model: m, api_key: "<key>" } }\n',
    };
    assert.deepEqual(
      errorsOf(files).map(({ rule, at }) => [rule, at]),
      [
        ['secret-placeholder', '"$T"'],
        ['secret-placeholder', '"<key>"'],
      ],
    );
  });

  test('a subscription is rejected', () => {
    const files = {
      'hookwright.yaml': config(REAL),
      '~/.hookwright/webhook_subscriptions.json': '{"b":{"prompt":"x","secret":"changeme"}}',
    };
    const { diagnostics } = compileFiles(files);
    const [found] = diagnostics.filter(({ source }) => source.name.endsWith('.json'));
    assert.equal(found?.rule, 'subscription-rejected');
    assert.match(found?.message ?? '', /`b`/);
  });
});

describe('behind a variable', () => {
  const text = config('env:HOOK');
  const rulesOf = (value: string, more = text) =>
    errorsOf({ 'hookwright.yaml': more }, { HOOK: value }).map(({ rule }) => rule);

  test('a placeholder', () => assert.deepEqual(rulesOf('changeme'), ['secret-placeholder']));
  test('a variable that is not expanded', () => assert.deepEqual(rulesOf('$OTHER_SECRET'), ['secret-placeholder']));
  test('the variable of the global secret', () => {
    const none = 'platforms: { webhook: { enabled: true, routes: { a: { prompt: x } } } }\n';
    const errors = errorsOf({ 'hookwright.yaml': none, '~/.hookwright/.env': 'WEBHOOK_SECRET=changeme\n' });
    assert.deepEqual(
      errors.map(({ rule, at }) => [rule, at]),
      [['secret-placeholder', 'webhook']],
    );
  });
  test('a secret', () => assert.deepEqual(rulesOf(REAL), []));
  test('the value of an example is allowed on this machine only', () => {
    assert.deepEqual(rulesOf('secret-for-this-example-only'), []);
    const open = text.replace('enabled: true', 'enabled: true, host: 0.0.0.0');
    assert.deepEqual(rulesOf('secret-for-this-example-only', open), ['secret-placeholder']);
  });
});

describe('secrets in the documentation and the examples', () => {
  const markdown = ['README.md', ...filesBelow('docs', '.md'), ...filesBelow('examples', '.md')];
  const files = [...markdown, ...filesBelow('examples', '.env')];
  // The pages of rules show mistakes and their diagnostics.
  const shown = files
    .filter((name) => name !== 'docs/rules.md')
    .flatMap((name) => secretsIn(readFileSync(join(ROOT, name), 'utf8')));

  test('is found', () => assert.ok(shown.length >= 6, json(shown)));
  for (const secret of new Set(shown)) {
    test(secret, () => {
      const errors = errorsOf({ 'hookwright.yaml': config(secret) });
      assert.deepEqual(
        errors.map(({ rule }) => rule),
        ['secret-placeholder'],
      );
    });
  }
});

function filesBelow(folder: string, end: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end) && !name.includes('node_modules') && !/(?:^|\/)build\//.test(name))
    .map((name) => `${folder}/${name}`);
}

/** Values of variables and settings with names of secrets; not references, commands and settings of other kinds. */
function secretsIn(text: string): readonly string[] {
  const variables = text.matchAll(/^\s*(?:export )?[A-Z_]*(?:SECRET|TOKEN|KEY|PASSWORD)=(.+)$/gm);
  const settings = text.matchAll(
    /^\s*(?:- )?(?:secret|token|verify_token|bot_token|api_key|password):\s+([^\s{].*)$/gm,
  );
  return [...variables, ...settings]
    .map(([, value = '']) => value.trim().replace(/^(["'])(.*)\1$/, '$2'))
    .filter((value) => !/^(?:env:|file:|INSECURE_NO_AUTH|\$\()/.test(value));
}

test('a secret that documentation publishes as an example is refused', () => {
  for (const value of [
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
    '8f742231b10e8888abcd99yyyzzz85a5',
    '8c570fa6dd201bb328f1c1eac23a96d8',
    'dGhpc19zZWNyZXRfaXNfZm9yX3Rlc3Rpbmdfb25seQ==',
    'whsec_plJ3nmyCDGBKInavdOK15jsl',
    'your-256-bit-secret',
    'your-512-bit-secret',
    'a-string-secret-at-least-256-bits-long',
    'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    'AKIAIOSFODNN7EXAMPLE',
    'correct horse battery staple',
    'CorrectHorseBatteryStaple1!',
    'openssl rand -hex 32',
    '$ openssl rand -base64 24',
    ...['', 'password'].flatMap((text) => ['md5', 'sha256'].map((name) => createHash(name).update(text).digest('hex'))),
    ...['md5', 'sha256'].map((name) => createHash(name).update('').digest('base64')),
    createHash('sha1').update('').digest('hex').toUpperCase(),
  ])
    assert.notEqual(placeholderIn(value), null, value);
});

describe('a value that may be a secret is accepted', () => {
  const SECRETS = [
    ...[REAL, 'silent walrus harbour violin', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx', 'Tr0ub4dor&3'],
    ...[
      'It$aSecret',
      'pa$$word-9f',
      'sk-proj-4f9a1c',
      'xoxb-2938-9a8f',
      '123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11',
      'a%b%c',
    ],
    ...[
      'secretariat-8',
      'tokenring-44-xz',
      'the key is under the mat',
      'p4ss-phrase-of-9-words',
      '9f86d081884c7d659a2feaa0',
    ],
  ];
  for (const secret of SECRETS) test(secret, () => assert.equal(placeholderIn(secret), null));

  const GENERATED = [
    // The first ones start with a word of an instruction: `add a`, `use a`, `set my`.
    ...[
      'adda0000-0000-1000-8000-00000000000b',
      'adda4c1be07f4a0c8d21b57d1a8c6e10',
      'USEa9xKqLmTz0Pf4',
      'setmyQ7x2LpW9vRk',
    ],
    ...[
      'c232ab00-9414-11ec-b3c8-9f6bdeced846',
      '01890a5d-ac96-774b-bcce-b302099a8057',
      '00000000-0000-4000-8000-000000000001',
    ],
    ...[
      '<ccKEF/H:q9>',
      '[+|\\"rD_i!K]',
      '`Vc3W(G_UVNC9RN`',
      '$(&b{"B@HZ.a/!&)',
      '>{{|g;/|#(%;}}#ba,lr',
      '\x24{m}~JE7Vos~,sIcg',
    ],
    'USe/a.X?>0m@`qgS~NP^',
    'legal winner thank year wave sausage worth useful example winner thank yellow',
  ];
  for (const secret of GENERATED) test(secret, () => assert.equal(placeholderIn(secret), null));

  test('any generated secret', () => {
    const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: 32 });
    const hex = (digits: number) =>
      fc.string({ unit: fc.constantFrom(...'0000123456789abcdef'), minLength: digits, maxLength: digits });
    const characters = (text: string) =>
      fc.string({ unit: fc.constantFrom(...text), minLength: 12, maxLength: 64, size: 'max' });
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
    const random = fc.oneof(
      bytes(8).map((found) => Buffer.from(found).toString('hex')),
      bytes(12).map((found) => Buffer.from(found).toString('base64')),
      bytes(12).map((found) => Buffer.from(found).toString('base64url')),
      fc.uuid(),
      // Versions 1 and 7: a time, with zeros in rarely used fields, and a node.
      fc
        .tuple(hex(8), hex(4), fc.constantFrom('1', '4', '6', '7'), hex(3), hex(3), hex(12))
        .map(([low, middle, version, high, clock, node]) => `${low}-${middle}-${version}${high}-8${clock}-${node}`),
      characters(letters),
      characters(`${letters}!"#$%&'()*+,-./:;<=>?@[\\]^_\`{|}~`),
      fc
        .array(fc.string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'), minLength: 3, maxLength: 8 }), {
          minLength: 4,
          maxLength: 12,
        })
        .map((words) => words.join('-')),
    );
    const notRepeated = random.filter((text) => new Set(text).size > 6);
    fc.assert(
      fc.property(notRepeated, (text) => assert.equal(placeholderIn(text), null)),
      { numRuns: runsOf(5_000), seed: -925056951 },
    );
  });
});

describe('a literal that a variable replaces', () => {
  const base =
    'platforms: { webhook: { enabled: true, port: 9000, host: 127.0.0.1, secret: kd83Hs0-qP2xVb71_tYw, routes: { a: { prompt: x } } } }\n';
  const warnings = (env: Readonly<Record<string, string>>, file = '', flags = {}) =>
    compileFiles(
      { 'hookwright.yaml': { content: base, mode: 0o600 }, '~/.hookwright/.env': file },
      { env: { HOME: '/home/user', ...env }, flags },
    ).diagnostics.map(({ rule, message, severity }) => `${severity} ${rule}: ${message}`);

  test('the secret, by a line of `.env`', () => {
    const [found, ...others] = warnings({}, 'WEBHOOK_SECRET=x9QmB41zR0ttLk5p\n');
    assert.match(found ?? '', /^warning overridden-setting: `WEBHOOK_SECRET`.*`\/home\/user\/\.hookwright\/\.env`/);
    assert.deepEqual(others, []);
  });
  test('the switch', () => {
    const files = { 'hookwright.yaml': base.replace('enabled: true', 'enabled: false') };
    const { diagnostics } = compileFiles(files, { env: { HOME: '/home/user', WEBHOOK_ENABLED: 'on' } });
    const [found, ...others] = diagnostics.filter(({ rule }) => rule === 'overridden-setting');
    assert.match(found?.message ?? '', /^`WEBHOOK_ENABLED`.*`enabled: false`.*`true`/);
    assert.deepEqual(others, []);
  });
  test('port and host, by the environment', () => {
    const found = warnings({ WEBHOOK_PORT: '8644', WEBHOOK_HOST: '::1' });
    assert.match(found[0] ?? '', /^warning overridden-setting: `WEBHOOK_PORT`.*`port: 9000`.*`8644`/);
    assert.match(found[1] ?? '', /^warning overridden-setting: `WEBHOOK_HOST`.*`host: 127\.0\.0\.1`.*`::1`/);
    assert.equal(found.length, 2);
  });
  test('is not reported if both are equal, or a flag overrides it', () => {
    assert.deepEqual(warnings({ WEBHOOK_PORT: '9000', WEBHOOK_SECRET: REAL, WEBHOOK_ENABLED: 'true' }), []);
    assert.deepEqual(warnings({ WEBHOOK_PORT: '8644' }, '', { port: 1 }), []);
  });
  test('the environment takes precedence over the file, and is named', () => {
    const [found = ''] = warnings({ WEBHOOK_PORT: '8644' }, 'WEBHOOK_PORT=1\n');
    assert.match(found, /`WEBHOOK_PORT`.*`8644`/);
    assert.doesNotMatch(found, /\.env`/);
  });
});
