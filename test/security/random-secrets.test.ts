/**
 * Tests that no generated secret is taken for a placeholder. `SAMPLES=1000000` generates as many of each form, as for the
 * figures in test/security/README.md.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { placeholderIn } from '../../compiler/text/placeholders.ts';

const SAMPLES = Number(process.env.SAMPLES ?? 1_000);

/** Mulberry32: the same bytes in every run. */
function createBytes(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 24) & 0xff;
  };
}

const next = createBytes(Number(process.env.SEED ?? 29));
const bytes = (size: number): Buffer => Buffer.from(Array.from({ length: size }, next));
const DIGITS = '0123456789';
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ASCII = Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).join('');

/** All characters are equally likely. */
function pick(from: string, length: number): string {
  let text = '';
  while (text.length < length) {
    const byte = next();
    if (byte < 256 - (256 % from.length)) text += from[byte % from.length];
  }
  return text;
}

function uuid(): string {
  const raw = bytes(16);
  raw[6] = ((raw[6] ?? 0) & 0x0f) | 0x40;
  raw[8] = ((raw[8] ?? 0) & 0x3f) | 0x80;
  return raw.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const NEVER: Readonly<Record<string, () => string>> = {
  'hex, 8 bytes': () => bytes(8).toString('hex'),
  'hex, 16 bytes': () => bytes(16).toString('hex'),
  'hex, 32 bytes': () => bytes(32).toString('hex'),
  'hex in capitals': () => bytes(20).toString('hex').toUpperCase(),
  'base64, 12 bytes': () => bytes(12).toString('base64'),
  'base64, 16 bytes': () => bytes(16).toString('base64'),
  'base64, 32 bytes': () => bytes(32).toString('base64'),
  'base64url, 12 bytes': () => bytes(12).toString('base64url'),
  'base64url, 32 bytes': () => bytes(32).toString('base64url'),
  UUID: uuid,
  whsec_: () => `whsec_${bytes(24).toString('base64')}`,
  ghp_: () => `ghp_${pick(LETTERS + DIGITS, 36)}`,
  sk_live_: () => `sk_live_${pick(LETTERS + DIGITS, 24)}`,
  'glpat-': () => `glpat-${pick(`${LETTERS + DIGITS}-_`, 20)}`,
  'xoxb-': () => `xoxb-${pick(DIGITS, 12)}-${pick(DIGITS, 13)}-${pick(LETTERS + DIGITS, 24)}`,
  'a bot of Telegram': () => `${pick(DIGITS, 10)}:${pick(`${LETTERS + DIGITS}-_`, 35)}`,
  'letters and digits, 16': () => pick(LETTERS + DIGITS, 16),
};

describe('never', () => {
  for (const [name, make] of Object.entries(NEVER)) test(name, () => assert.deepEqual(falseAlarms(make), []));
});

describe('random ASCII, at most 1 in 100,000', () => {
  for (const length of [16, 20, 32])
    test(`${length} characters`, (t) => {
      const found = falseAlarms(() => pick(ASCII, length));
      t.diagnostic(`${found.length} of ${SAMPLES}`);
      assert.ok(found.length <= Math.ceil(SAMPLES / 100_000), found.join(' '));
    });
});

function falseAlarms(make: () => string): readonly string[] {
  const found: string[] = [];
  for (let count = 0; count < SAMPLES; count++) {
    const text = make();
    if (placeholderIn(text) !== null) found.push(text);
  }
  return found;
}
