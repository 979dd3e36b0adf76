/** Tests that many secrets with the same start (`whsec_`, `xoxb-`) are added and searched without a walk over all of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redactor } from '../../runtime/deliver/redact.ts';

const COUNT = 20_000;
const secretOf = (index: number): string => `whsec_${index.toString(36).padStart(8, '0')}Zq`;

const METHODS = ['includes', 'indexOf', 'find', 'findIndex', 'some', 'splice', 'sort', 'filter'] as const;

/** Upper bound of the number of list elements that are read or moved while `run` executes. */
function workOf(run: () => void): number {
  const prototype = Array.prototype as unknown as Record<string, (this: unknown[], ...args: unknown[]) => unknown>;
  let looked = 0;
  const restore = METHODS.map((name) => {
    const original = prototype[name];
    assert(original !== undefined);
    prototype[name] = function (...args) {
      looked += this.length;
      return original.apply(this, args);
    };
    return () => {
      prototype[name] = original;
    };
  });
  try {
    run();
  } finally {
    for (const undo of restore) undo();
  }
  return looked;
}

test('thousands of secrets with the same start', () => {
  const redactor = new Redactor();
  const text = Array.from({ length: 500 }, (_, index) => `whsec_ ${secretOf(index * 40)} whsex`).join(' ');
  let redacted = '';
  const work = workOf(() => {
    redactor.add(Array.from({ length: COUNT }, (_, index) => secretOf(index)));
    redacted = redactor.redact(text);
  });
  assert.equal(redacted, Array.from({ length: 500 }, () => 'whsec_ *** whsex').join(' '));
  assert(work < 20 * COUNT, `${work} elements`);
});

test('the longest of several secrets with the same start is found, also at the end of a text', () => {
  const redactor = new Redactor();
  redactor.add(['whsec_ab', 'whsec_abcd', 'whsec_abcdefgh']);
  assert.equal(redactor.redact('a whsec_abcdefgh b whsec_abcdef c whsec_ab'), 'a *** b ***ef c ***');
});
