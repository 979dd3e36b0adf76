/** Documents in a shared database are what somebody with the key has written there, and not older than what was seen. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { seenVersions } from '../../../modules/cluster/runtime/seen-versions.ts';
import type { DocumentKind, DocumentPlace, SigningKeys } from '../../../modules/cluster/runtime/signatures.ts';
import { DocumentRefused, Signatures } from '../../../modules/cluster/runtime/signatures.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const KINDS: readonly DocumentKind[] = ['active', 'jobs', 'request', 'subscriptions', 'table'];
const NOW = 1_790_000_000_000;

/** @param text the key; null: none @param tableKey the public key; null: none */
function machine(text: string | null = KEY, tableKey: string | null = null, now = NOW) {
  const versions = new Map<string, number>();
  const seen = {
    get: (kind: string) => versions.get(kind) ?? 0,
    raise: (kind: string, version: number) => void versions.set(kind, Math.max(version, versions.get(kind) ?? 0)),
  };
  const keys: SigningKeys = { key: () => text, tableKey: () => tableKey };
  return new Signatures(keys, seen, () => now);
}

const pair = () =>
  generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });

const X25519 = generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const isRefused = (signatures: Signatures, place: DocumentPlace, stored: string): boolean => {
  try {
    signatures.open(place, stored);
    return false;
  } catch (error) {
    assert.ok(error instanceof DocumentRefused, String(error));
    return true;
  }
};

describe('a signed document', () => {
  it('is opened by every machine with the key, and by no other place', () => {
    for (const kind of KINDS) {
      const stored = machine().sign({ kind, name: 'a' }, 'text');
      assert.equal(machine().open({ kind, name: 'a' }, stored), 'text');
      const elsewhere = [...KINDS.filter((other) => other !== kind).map((other) => ({ kind: other, name: 'a' }))];
      for (const place of [...elsewhere, { kind, name: 'b' }]) assert.ok(isRefused(machine(), place, stored), kind);
      assert.ok(isRefused(machine(`${KEY}0`), { kind, name: 'a' }, stored), 'another key');
    }
  });

  it('is refused where one bit, one character or its length differs, and whatever else stands there', () => {
    const { publicKey, privateKey } = pair();
    const place = { kind: 'table', name: 'abc' } as const;
    for (const [stored, reader] of [
      [machine().sign(place, '{"routes":"ü\\n"}\n'), () => machine()],
      [machine(null, publicKey).sign(place, '{"routes":"ü\\n"}\n', privateKey), () => machine(KEY, publicKey)],
    ] as const) {
      const bytes = Buffer.from(stored);
      assert.equal(reader().open(place, stored), '{"routes":"ü\\n"}\n');
      for (let at = 0; at < bytes.length; at++) {
        for (let bit = 0; bit < 8; bit++) {
          const changed = Buffer.from(bytes);
          changed[at] = (changed[at] ?? 0) ^ (1 << bit);
          assert.ok(isRefused(reader(), place, changed.toString('utf8')), `bit ${bit} of byte ${at}`);
        }
      }
      for (let length = 0; length < stored.length; length++)
        assert.ok(isRefused(reader(), place, stored.slice(0, length)), `cut to ${length}`);
      const [head = '', text = ''] = [stored.slice(0, stored.indexOf('\n')), stored.slice(stored.indexOf('\n') + 1)];
      const [, , algorithm, version, hex = ''] = head.split(':');
      const other = algorithm === 'hmac' ? 'ed25519' : 'hmac';
      for (const forged of [
        ...[text, '', '{}', `${head}\n`, `${head}\r\n${text}`, ` ${stored}`, `${stored} `, `${head}\n${head}\n${text}`],
        ...[`signed:v1:${other}:${version}:${hex}\n${text}`, `signed:v2:${algorithm}:${version}:${hex}\n${text}`],
        ...['0', '-1', '1e9', '9007199254740993', '9'.repeat(16), '9'.repeat(40), `0${version}`, 'NaN', ''].map(
          (each) => `signed:v1:${algorithm}:${each}:${hex}\n${text}`,
        ),
        ...[hex.toUpperCase(), `${hex}00`, '00'.repeat(32), '00'.repeat(64), ''].map(
          (each) => `signed:v1:${algorithm}:${version}:${each}\n${text}`,
        ),
      ]) {
        assert.ok(isRefused(reader(), place, forged), forged.slice(0, 80));
      }
    }
  });

  it('is refused in any other form (property)', () => {
    const stored = machine().sign({ kind: 'subscriptions', name: 'subscriptions' }, '{"a":{"secret":"env:A"}}');
    const piece = fc.constantFrom(stored, 'signed:v1:hmac:', `${NOW}:`, '\n', '{}', 'ff'.repeat(32), '\0', ...KINDS);
    const any = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.oneof(piece, fc.string())).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(any, (text) => {
        if (text !== stored)
          assert.ok(isRefused(machine(), { kind: 'subscriptions', name: 'subscriptions' }, text), JSON.stringify(text));
      }),
      { numRuns: 5000 },
    );
  });

  it('is not older than what was seen, also after a restart, and signing again makes it newer', (t) => {
    const home = tempDir(t);
    const keys: SigningKeys = { key: () => KEY, tableKey: () => null };
    const reader = () => new Signatures(keys, seenVersions(home), () => NOW);
    for (const kind of ['active', 'jobs', 'subscriptions'] as const) {
      const place = { kind, name: kind };
      const old = machine(KEY, null, NOW - 5).sign(place, 'old');
      const newer = machine(KEY, null, NOW - 4).sign(place, 'newer');
      assert.equal(reader().open(place, old), 'old', 'a new machine has seen nothing');
      assert.equal(reader().open(place, newer), 'newer');
      assert.equal(reader().open(place, newer), 'newer', 'the same again');
      assert.throws(() => reader().open(place, old), /older \(.*\) than what this machine has seen/);
      // An operator whose clock is behind.
      const again = new Signatures(keys, seenVersions(home), () => 7).sign(place, 'old');
      assert.equal(reader().open(place, again), 'old');
      assert.throws(() => reader().open(place, newer), /older/);
    }
    const versions = JSON.parse(readFileSync(join(home, 'seen-versions.json'), 'utf8')) as Record<string, number>;
    assert.deepEqual(versions, { active: NOW - 3, jobs: NOW - 3, subscriptions: NOW - 3 });
    for (const damage of ['', '{', '[1.5]', '{"active":"1"}', 'null']) {
      writeFileSync(join(home, 'seen-versions.json'), damage);
      assert.throws(() => reader().sign({ kind: 'jobs', name: 'jobs' }, ''), /seen-versions\.json cannot be read/);
    }
  });

  it('is named where it is refused, with what to do', () => {
    const signatures = machine();
    assert.throws(() => signatures.open({ kind: 'active', name: 'table' }, 'f'.repeat(64)), {
      message:
        'the name of the active table in the database: not signed with gateway.store.key\n' +
        'activate a table: hookwright table activate <hash>',
    });
    assert.deepEqual(signatures.refused, [
      'the name of the active table in the database: not signed with gateway.store.key; activate a table: hookwright table activate <hash>',
    ]);
    signatures.open({ kind: 'active', name: 'table' }, machine().sign({ kind: 'active', name: 'table' }, 'f'));
    assert.deepEqual(signatures.refused, []);
  });
});

describe('without a key', () => {
  it('what is stored is believed, and nothing is signed', () => {
    assert.equal(machine(null).sign({ kind: 'jobs', name: 'jobs' }, 'text'), 'text');
    assert.equal(machine(null).open({ kind: 'jobs', name: 'jobs' }, 'text'), 'text');
  });

  it('what others sign can be read, and is not replaced', () => {
    const place = { kind: 'subscriptions', name: 'subscriptions' } as const;
    const signatures = machine(null);
    assert.equal(signatures.open(place, machine().sign(place, 'text')), 'text');
    assert.throws(() => signatures.sign(place, 'other'), /other machines sign with gateway\.store\.key/);
  });

  it('a key that is short or cannot be read is refused where it is needed', () => {
    assert.throws(() => machine('short').sign({ kind: 'jobs', name: 'jobs' }, ''), /fewer than 32 characters/);
    const keys = { key: () => assert.fail('env:STORE_KEY is not set'), tableKey: () => null };
    const signatures = new Signatures(keys, { get: () => 0, raise: () => {} }, () => NOW);
    assert.throws(
      () => signatures.sign({ kind: 'table', name: 'a' }, ''),
      /^StoreRefused: gateway\.store\.key: env:STORE_KEY/,
    );
  });
});

describe('a table that CI signs', () => {
  const place = { kind: 'table', name: 'abc' } as const;

  it('is served where its public half is named, and none that only the shared key signs', () => {
    const { publicKey, privateKey } = pair();
    const stored = machine(null, publicKey).sign(place, 'text', privateKey);
    assert.match(stored, /^signed:v1:ed25519:/);
    assert.equal(machine(KEY, publicKey).open(place, stored), 'text');
    assert.equal(machine(null, publicKey.replaceAll('\n', '\\n')).open(place, stored), 'text', 'a PEM on one line');
    assert.ok(isRefused(machine(KEY, publicKey), place, machine().sign(place, 'text')));
    assert.ok(isRefused(machine(KEY), place, stored), 'a gateway that does not name the public half');
    assert.throws(() => machine(KEY, publicKey).sign(place, 'text'), /--sign-with file:/);
  });

  it('is signed by no other key, and checked with no key of another kind', () => {
    const { publicKey, privateKey } = pair();
    assert.throws(() => machine(null, publicKey).sign(place, '', pair().privateKey), /not the private half/);
    assert.ok(isRefused(machine(null, pair().publicKey), place, machine(null, publicKey).sign(place, '', privateKey)));
    assert.throws(
      () => machine(null, privateKey).open(place, machine(null).sign(place, '', privateKey)),
      /no public key/,
    );
    assert.throws(() => machine().sign(place, '', X25519), /a key for x25519, not for Ed25519/);
    assert.throws(() => machine().sign(place, '', 'not a key'), /^StoreRefused: --sign-with: /);
  });

  it('must not become older where no key signs which one is active', () => {
    const { publicKey, privateKey } = pair();
    const [old, newer] = [1, 2].map((ms) => machine(null, publicKey, NOW + ms).sign(place, String(ms), privateKey));
    const reader = machine(null, publicKey);
    assert.equal(reader.open(place, newer ?? ''), '2');
    assert.ok(isRefused(reader, place, old ?? ''));
    assert.equal(reader.open(place, old ?? '', false), '1', 'to be signed again');
    const keyed = machine(KEY, publicKey);
    keyed.open(place, newer ?? '');
    assert.equal(keyed.open(place, old ?? ''), '1', 'which one is active has a version of its own');
  });
});
