import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { lowerFilters } from '../../../compiler/lower/filter.ts';
import type { FilterSubject } from '../../../runtime/table/link-filter.ts';
import { linkFilter } from '../../../runtime/table/link-filter.ts';
import { createValueSet } from '../../../runtime/table/value-set.ts';
import type { FilterConfig } from '../../../schemas/generated/types.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const subject: FilterSubject = {
  payload: JSON.parse(`{
    "action": "opened", "n": 5, "zero": 0, "t": true, "nil": null, "empty": "", "digits": "12",
    "labels": ["bug", {"name": "p1", "ids": [1, 2]}], "user": {"login": "Ann", "id": 12},
    "pair": {"a": 1, "b": [1, {"c": null}]}, "event": "own", "__proto__": {"x": 1}
  }`),
  event: 'pull_request',
  headers: { 'x-tag': 'blue', 'x-count': '12', 'set-cookie': ['a', 'b'] },
};

const lists = new Map([['users.txt', createValueSet(['Ann', 'Bob', 5, { a: 1, b: [1, { c: null }] }])]]);

function matches(filter: FilterConfig | FilterConfig[], on: FilterSubject = subject): boolean {
  const { plan, problems } = lowerFilters(filter);
  assert.deepEqual(problems, []);
  assert.ok(plan);
  const linked = linkFilter(plan, (path) => lists.get(path) ?? createValueSet([]));
  // Both ways to evaluate a filter must give the same result.
  assert.equal(linked.inspect(on).holds, linked.matches(on));
  return linked.matches(on);
}

describe('operators', () => {
  const cases: readonly (readonly [FilterConfig, boolean])[] = [
    [{ field: 'action', exists: true }, true],
    [{ field: 'nil', exists: true }, true],
    [{ field: 'none', exists: true }, false],
    [{ field: 'none', exists: false }, true],
    [{ field: 'action', exists: false }, false],
    [{ field: 'none', missing: true }, true],
    [{ field: 'nil', missing: true }, false],
    [{ field: '__proto__', missing: true }, true],
    [{ field: 'toString', missing: true }, true],
    [{ field: 'labels.length', missing: true }, true],

    [{ field: 'action', equals: 'opened' }, true],
    [{ field: 'n', equals: 5 }, true],
    [{ field: 'n', equals: '5' }, false],
    [{ field: 'zero', equals: false }, false],
    [{ field: 'empty', equals: null }, false],
    [{ field: 'nil', equals: null }, true],
    [{ field: 'none', equals: null }, false],
    [{ field: 'pair', equals: { b: [1, { c: null }], a: 1 } }, true],
    [{ field: 'pair', equals: { a: 1 } }, false],
    [{ field: 'pair.b', equals: { '0': 1, '1': { c: null } } }, false],
    [{ field: 'none', not_equals: 1 }, true],
    [{ field: 'n', not_equals: 5 }, false],
    [{ field: 'n', not_equals: '5' }, true],

    [{ field: 'n', gt: 4.5 }, true],
    [{ field: 'n', gt: 5 }, false],
    [{ field: 'n', gte: 5 }, true],
    [{ field: 'n', gte: 5.5 }, false],
    [{ field: 'n', lt: 5.5 }, true],
    [{ field: 'n', lt: 5 }, false],
    [{ field: 'n', lte: 5 }, true],
    [{ field: 'n', lte: -5 }, false],
    [{ field: 'zero', gte: 0 }, true],
    [{ field: 'digits', gt: 1 }, false],
    [{ field: 'empty', lt: 1 }, false],
    [{ field: 't', gt: 0 }, false],
    [{ field: 'nil', lte: 0 }, false],
    [{ field: 'pair.b', lt: 9 }, false],
    [{ field: 'none', gt: 0 }, false],
    [{ field: 'none', lt: 0 }, false],
    [{ not: { field: 'none', gt: 0 } }, true],
    [{ field: 'headers.X-Count', gt: 1 }, false],

    [{ field: 'action', starts_with: 'open' }, true],
    [{ field: 'action', starts_with: 'pen' }, false],
    [{ field: 'action', starts_with: 'Open' }, false],
    [{ field: 'n', starts_with: '5' }, false],
    [{ field: 'labels', starts_with: 'bug' }, false],
    [{ field: 'none', starts_with: 'a' }, false],

    [{ field: 'action', contains: 'pen' }, true],
    [{ field: 'action', contains: 'Pen' }, false],
    [{ field: 'action', contains: '' }, true],
    [{ field: 'n', contains: 5 }, false],
    [{ field: 'labels', contains: 'bug' }, true],
    [{ field: 'labels', contains: 'bu' }, false],
    [{ field: 'labels', contains: { ids: [1, 2], name: 'p1' } }, true],
    [{ field: 'user', contains: 'login' }, true],
    [{ field: 'user', contains: 'toString' }, false],
    [{ field: 'user', contains: 'Ann' }, false],
    [{ field: 'none', contains: 'x' }, false],
    [{ field: 'nil', contains: 'null' }, false],

    [{ field: 'action', in: ['closed', 'opened'] }, true],
    [{ field: 'n', in: ['5'] }, false],
    [{ field: 'pair.b', in: [[1, { c: null }]] }, true],
    [{ field: 'none', in: [null] }, false],
    [{ field: 'action', in: [] }, false],

    [{ field: 'user.login', in_file: 'users.txt' }, true],
    [{ field: 'user.id', in_file: 'users.txt' }, false],
    [{ field: 'pair', in_file: 'users.txt' }, true],
    [{ field: 'none', in_file: 'users.txt' }, false],
    [{ field: 'user.login', in_file: 'absent.txt' }, false],

    [{ field: 'action', regex: '^open' }, true],
    [{ field: 'action', regex: 'pen' }, true],
    [{ field: 'action', regex: '^pen' }, false],
    [{ field: 'action', regex: '(?i)^OPEN' }, true],
    [{ field: 'n', regex: '^5$' }, true],
    [{ field: 't', regex: '^true$' }, true],
    [{ field: 'nil', regex: 'null' }, true],
    [{ field: 'labels', regex: '"name":"p\\d"' }, true],
    [{ field: 'none', regex: '' + '.*' }, false],
  ];
  for (const [filter, expected] of cases) {
    test(`${JSON.stringify(filter)} is ${expected}`, () => assert.equal(matches(filter), expected));
  }
});

describe('fields', () => {
  test('event and event_type are the resolved event, whatever the payload contains', () => {
    assert.ok(matches({ field: 'event', equals: 'pull_request' }));
    assert.ok(matches({ field: 'event_type', equals: 'pull_request' }));
    assert.ok(matches({ field: 'payload.event', equals: 'own' }));
  });

  test('headers ignore case, several values are joined, and prototypes are not headers', () => {
    assert.ok(matches({ field: 'headers.X-Tag', equals: 'blue' }));
    assert.ok(matches({ field: 'headers.Set-Cookie', equals: 'a, b' }));
    assert.ok(matches({ field: 'headers.X-None', missing: true }));
    assert.ok(matches({ field: 'headers.constructor', missing: true }));
  });

  test('payload.<x> reads below a payload object, else from the root', () => {
    const at = (payload: unknown) => ({ ...subject, payload });
    const filter: FilterConfig = { field: 'payload.x', equals: 1 };
    assert.ok(matches(filter, at({ payload: { x: 1 }, x: 2 })));
    assert.ok(matches(filter, at({ x: 1 })));
    assert.ok(matches(filter, at({ payload: 'text', x: 1 })));
    assert.ok(matches(filter, at({ payload: null, x: 1 })));
    assert.ok(!matches(filter, at({ payload: {}, x: 1 })));
    assert.ok(matches({ field: 'x', equals: 2 }, at({ payload: { x: 1 }, x: 2 })));
  });
});

describe('groups', () => {
  const yes: FilterConfig = { field: 'n', equals: 5 };
  const no: FilterConfig = { field: 'n', equals: 6 };
  const cases: readonly (readonly [FilterConfig | FilterConfig[], boolean])[] = [
    [[], true],
    [[yes, yes], true],
    [[yes, no], false],
    [{ all: [] }, true],
    [{ any: [] }, false],
    [{ any: [no, yes] }, true],
    [{ not: yes }, false],
    [{ not: no }, true],
    [{ not: [yes, no] }, true],
    [{ not: [] }, false],
    [{ all: [{ any: [no, { not: no }] }, yes] }, true],
  ];
  for (const [filter, expected] of cases) {
    test(`${JSON.stringify(filter)} is ${expected}`, () => assert.equal(matches(filter), expected));
  }
});

describe('lists', () => {
  const on = (payload: unknown): FilterSubject => ({ ...subject, payload });
  const push = on({
    commits: [
      { id: 'a', modified: ['docs/x'], event: 'x', 'a.b': 1 },
      { id: 'b', modified: ['src/y', 'docs/z'] },
    ],
    empty: [],
    text: 'abc',
    matrix: [[1], [1, 2]],
  });
  const src: FilterConfig = { field: '.', starts_with: 'src/' };
  for (const [filter, expected] of [
    [{ any_of: 'commits', where: { field: 'id', equals: 'b' } }, true],
    [{ any_of: 'commits', where: { field: 'id', equals: 'c' } }, false],
    [{ any_of: 'commits', where: { any_of: 'modified', where: src } }, true],
    [{ all_of: 'commits', where: { any_of: 'modified', where: src } }, false],
    [{ all_of: 'commits', where: { field: 'id', regex: '^.$' } }, true],
    [{ all_of: 'commits', where: { field: 'modified', exists: true } }, true],
    [{ all_of: 'commits', where: { field: 'event', exists: true } }, false],
    [{ any_of: 'commits', where: { field: 'event', equals: 'x' } }, true],
    [{ any_of: 'commits', where: { field: 'headers.x-tag', equals: 'blue' } }, false],
    [{ any_of: 'commits', where: { field: '["a.b"]', equals: 1 } }, true],
    [{ any_of: 'commits[1].modified', where: src }, true],
    [{ any_of: 'payload.commits', where: { field: 'id', equals: 'a' } }, true],
    [
      {
        any_of: 'commits',
        where: [
          { field: 'id', equals: 'a' },
          { any_of: 'modified', where: src },
        ],
      },
      false,
    ],
    [{ any_of: 'commits', where: { not: { field: 'id', equals: 'a' } } }, true],
    [{ all_of: 'matrix', where: { any_of: '.', where: { field: '.', equals: 1 } } }, true],
    [{ all_of: 'matrix', where: { all_of: '.', where: { field: '.', equals: 1 } } }, false],
    [{ any_of: 'empty', where: { field: '.', exists: true } }, false],
    [{ all_of: 'empty', where: { field: '.', exists: true } }, false],
    [{ any_of: 'none', where: [] }, false],
    [{ all_of: 'none', where: [] }, false],
    [{ all_of: 'text', where: [] }, false],
    [{ any_of: 'commits', where: [] }, true],
    [{ not: { all_of: 'none', where: [] } }, true],
  ] as const)
    test(`${JSON.stringify(filter)} is ${expected}`, () =>
      assert.equal(matches(filter as FilterConfig, push), expected));

  test('a finding shows the element that decided, else the first three', () => {
    const { plan } = lowerFilters({ any_of: 'n', where: { field: '.', equals: 5 } });
    assert.ok(plan);
    const { inspect } = linkFilter(plan, () => createValueSet([]));
    const shown = (payload: unknown) =>
      inspect(on(payload)).of.map(({ element, found, holds }) => [element, found, holds]);
    assert.deepEqual(shown({ n: [1, 5, 5] }), [[1, 5, true]]);
    assert.deepEqual(shown({ n: [1, 2, 3, 4] }), [
      [0, 1, false],
      [1, 2, false],
      [2, 3, false],
    ]);
    assert.deepEqual(shown({ n: 5 }), []);
    assert.equal(inspect(on({})).missing, true);
  });

  test('any list gives what its elements give one by one', () => {
    const value = fc.oneof(fc.constantFrom<unknown>(0, 1, 'a', null), fc.array(fc.nat(2), { maxLength: 3 }));
    fc.assert(
      fc.property(fc.array(value, { maxLength: 6 }), value, (list, wanted) => {
        const where = { field: '.', equals: wanted as object };
        const each = list.map((element) => JSON.stringify(element) === JSON.stringify(wanted));
        assert.equal(matches({ any_of: 'l', where }, on({ l: list })), each.includes(true));
        assert.equal(matches({ all_of: 'l', where }, on({ l: list })), each.length > 0 && !each.includes(false));
      }),
      { seed: 20260101, numRuns: 200 },
    );
  });

  test('a hostile list costs what its size costs', () => {
    const { plan } = lowerFilters({
      all_of: 'l',
      where: { any_of: '.', where: { not: { any_of: '.', where: { field: 'x', regex: '(a|b)+$' } } } },
    });
    assert.ok(plan);
    const linked = linkFilter(plan, () => createValueSet([]));
    const l = Array.from({ length: 1e5 }, () => [[{ x: 'abab' }, 1], [2]]);
    assert.ok(cpuTime(() => linked.matches(on({ l }))) < 2000);
  });
});

describe('properties', () => {
  const SEED = { seed: 20260101, numRuns: 200 };
  const key = fc.constantFrom('a', 'b', '0', 'payload', '__proto__', 'constructor', 'length');
  const json = fc
    .letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom(null, true, 0, 1, '', 'a', 'b'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 3 }),
      ),
    }))
    .value.map((value): unknown => JSON.parse(JSON.stringify(value)));
  const field = fc.array(key, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'));

  test('every operator works on every payload, and negation is exact', () => {
    fc.assert(
      fc.property(json, field, json, (payload, path, operand) => {
        const on = { ...subject, payload };
        const operators: FilterConfig[] = [
          { exists: true },
          { equals: operand as object },
          { contains: operand as object },
          { in: [operand] },
          { gt: 0 },
          { lte: 0 },
          { in_file: 'users.txt' },
          { regex: 'a|1' },
        ];
        for (const operator of operators) {
          const leaf = { field: path, ...operator };
          assert.equal(matches({ not: leaf }, on), !matches(leaf, on));
        }
        assert.equal(
          matches({ field: path, not_equals: operand as object }, on),
          !matches({ field: path, equals: operand as object }, on),
        );
      }),
      SEED,
    );
  });

  test('equals holds exactly for values with the same canonical JSON', () => {
    const canonical = (value: unknown): string =>
      JSON.stringify(value, (_, member: unknown) =>
        typeof member === 'object' && member !== null && !Array.isArray(member)
          ? { entries: Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)) }
          : member,
      );
    fc.assert(
      fc.property(json, json, (left, right) => {
        const on = { ...subject, payload: { v: left } };
        assert.equal(matches({ field: 'v', equals: right as object }, on), canonical(left) === canonical(right));
        assert.ok(matches({ field: 'v', equals: structuredClone(left) as object }, on));
      }),
      SEED,
    );
  });
});

test('a hostile text does not slow a regex down', () => {
  const on = { ...subject, payload: { v: `${'a'.repeat(200_000)}!` } };
  const spent = cpuTime(() => assert.equal(matches({ field: 'v', regex: '^(a+)+$' }, on), false));
  assert.ok(spent < 2000, `${spent} ms`);
});
