/** Tests that parts of any size are joined in order, in about as much memory as they have bytes. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Collected } from '../../base/collected.ts';

test('parts of any size are joined in order', () => {
  const sizes = [1, 0, 1, 16_383, 1, 16_384, 40_000, 3, 16_385, 100, 100_000, 1, 0];
  for (let first = 0; first < sizes.length; first++) {
    const parts = sizes.slice(first).map((size) => randomBytes(size));
    const collected = new Collected();
    for (const part of parts) collected.add(part);
    assert.equal(collected.size, Buffer.concat(parts).length);
    assert.deepEqual(collected.whole(), Buffer.concat(parts));
  }
  assert.equal(new Collected().whole().length, 0);
});

test('a part that its owner uses again is not changed', () => {
  const collected = new Collected();
  const part = Buffer.from('ab');
  collected.add(part);
  part.fill('x');
  assert.equal(String(collected.whole()), 'ab');
});

test('a million parts of one byte need a few megabytes', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  const collected = new Collected();
  for (let sent = 0; sent < 1_000_000; sent++) collected.add(Buffer.from('x'));
  const needed = used() - before;
  assert.ok(needed < 8_000_000, `${needed} bytes`);
  assert.equal(collected.whole().length, 1_000_000);
});
