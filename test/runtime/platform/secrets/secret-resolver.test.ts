import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecretResolver } from '../../../../runtime/platform/secrets.ts';

const FILES: Readonly<Record<string, string>> = {
  '/home/.env': 'BOTH=from file\nFILE=file only\nEMPTY=',
  '/home/profiles/ops/.env': 'OWN=of ops\nEMPTY=',
  '/home/keys/hook': 'key in a file\n',
  '/user/key': 'key of the user\r\n',
  '/home/blank': '\n',
  '/home/profiles/ops/keys/hook': 'key of ops',
};

function resolver(reads: string[] = []) {
  return createSecretResolver({
    env: { BOTH: 'from process', PROCESS: 'process only', BLANK: '' },
    home: '/home',
    userHome: '/user',
    readFile: (path) => {
      reads.push(path);
      const text = FILES[path];
      if (text === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
      return text;
    },
  });
}

const env = (value: string, scope = 'default') => ({ kind: 'env' as const, value, scope });
const file = (value: string, scope = 'default') => ({ kind: 'file' as const, value, scope });

const found = [
  [env('PROCESS'), 'process only'],
  [env('BOTH'), 'from process'],
  [env('FILE'), 'file only'],
  [env('OWN', 'ops'), 'of ops'],
  [file('keys/hook'), 'key in a file'],
  [file('/home/keys/hook'), 'key in a file'],
  [file('~/key'), 'key of the user'],
  [file('keys/hook', 'ops'), 'key of ops'],
  [{ kind: 'literal' as const, value: 'as it is', scope: 'default' }, 'as it is'],
] as const;

for (const [ref, secret] of found) {
  test(`${ref.kind}:${ref.value} of ${ref.scope} is ${secret}`, () => assert.equal(resolver().resolve(ref), secret));
}

const missing = [
  [env('NONE'), ['env:NONE', '/home/.env']],
  [env('EMPTY'), ['env:EMPTY']],
  [env('BLANK'), ['env:BLANK', '/home/.env']],
  [env('__proto__'), ['env:__proto__', '/home/.env']],
  [env('PROCESS', 'ops'), ['env:PROCESS', '/home/profiles/ops/.env']],
  [env('FILE', 'ops'), ['env:FILE', '/home/profiles/ops/.env']],
  [env('OWN'), ['env:OWN', '/home/.env']],
  [env('OWN', 'other'), ['env:OWN', '/home/profiles/other/.env']],
  [env('OWN', '../profiles/ops'), ['"../profiles/ops"']],
  [file('none'), ['file:none:', '/home/none', 'ENOENT']],
  [file('blank'), ['file:blank']],
  [{ kind: 'literal' as const, value: '', scope: 'default' }, []],
] as const;

for (const [ref, names] of missing) {
  test(`${ref.kind}:${ref.value} of ${ref.scope} is rejected`, () => {
    assert.throws(
      () => resolver().resolve(ref),
      ({ name, message }: Error) => name === 'SecretError' && names.every((each) => message.includes(each)),
    );
  });
}

test('each .env is read once', () => {
  const reads: string[] = [];
  const secrets = resolver(reads);
  for (let i = 0; i < 3; i++) secrets.resolve(env('FILE'));
  secrets.resolve(env('OWN', 'ops'));
  assert.deepEqual(reads, ['/home/.env', '/home/profiles/ops/.env']);
});
