import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lowerFilters } from '../../../compiler/lower/filter.ts';
import type { FilterConfig, FilterPlan } from '../../../schemas/generated/types.ts';

const leaf = (config: FilterConfig): FilterPlan | null => lowerFilters(config).plan;

describe('fields', () => {
  const cases: readonly (readonly [string, object])[] = [
    ['action', { in: 'root', path: ['action'] }],
    ['pull_request.user.login', { in: 'root', path: ['pull_request', 'user', 'login'] }],
    ['payload.a.b', { in: 'payload', path: ['a', 'b'] }],
    ['payload', { in: 'root', path: ['payload'] }],
    ['event', { in: 'event', path: [] }],
    ['event_type', { in: 'event', path: [] }],
    ['event.x', { in: 'root', path: ['event', 'x'] }],
    ['headers.X-My.Header', { in: 'header', path: ['x-my.header'] }],
    ['item type.@id', { in: 'root', path: ['item type', '@id'] }],
  ];
  for (const [field, plan] of cases) {
    test(`${field} is read from ${JSON.stringify(plan)}`, () => {
      assert.deepEqual(leaf({ field, exists: true }), { kind: 'leaf', field: plan, operator: 'exists', value: true });
    });
  }

  for (const field of ['a..b', '.a', 'a.', 'headers.', 'headers.a b', 'payload.']) {
    test(`${JSON.stringify(field)} is not a field`, () => {
      const { plan, problems } = lowerFilters([{ field, exists: true }]);
      assert.equal(plan, null);
      assert.deepEqual(
        problems.map(({ rule, path }) => [rule, path]),
        [['filter-field', [0, 'field']]],
      );
    });
  }
});

describe('shape', () => {
  test('a list of filters means all of them', () => {
    const one = leaf({ field: 'a', equals: null });
    assert.deepEqual(one, { kind: 'leaf', field: { in: 'root', path: ['a'] }, operator: 'equals', value: null });
    assert.deepEqual(lowerFilters([{ field: 'a', equals: null }]).plan, { kind: 'all', filters: [one] });
    assert.deepEqual(lowerFilters([]).plan, { kind: 'all', filters: [] });
  });

  test('groups nest; a list under `not` stands for `all`', () => {
    const a = { field: 'a', exists: true } as const;
    const plan = leaf({ any: [a, { not: a }, { not: [a, a] }, { all: [] }] });
    const lowered = leaf(a);
    assert.deepEqual(plan, {
      kind: 'any',
      filters: [
        lowered,
        { kind: 'not', filters: [lowered] },
        { kind: 'not', filters: [{ kind: 'all', filters: [lowered, lowered] }] },
        { kind: 'all', filters: [] },
      ],
    });
  });

  const refused: readonly (readonly [string, FilterConfig, string, readonly (string | number)[]])[] = [
    ['no operator', { field: 'a' }, 'filter-operator', []],
    ['two operators', { field: 'a', equals: 1, in: [1] }, 'filter-operator', []],
    ['an operator without a field', { equals: 1 }, 'filter-shape', []],
    ['nothing at all', {}, 'filter-shape', []],
    ['a group beside a field', { field: 'a', all: [] }, 'filter-shape', []],
    ['a group beside an operator', { all: [], equals: 1 }, 'filter-shape', []],
    ['two groups', { all: [], any: [] }, 'filter-shape', []],
    ['a fault deep inside', { any: [{ not: [{ field: 'a' }] }] }, 'filter-operator', ['any', 0, 'not', 0]],
    ['a list file without a name', { field: 'a', in_file: 'lists/' }, 'filter-file', ['in_file']],
    ["another user's home", { field: 'a', in_file: '~bob/x' }, 'filter-file', ['in_file']],
  ];
  for (const [name, config, rule, path] of refused) {
    test(`${name} is rejected as ${rule}`, () => {
      const { plan, problems } = lowerFilters(config);
      assert.equal(plan, null);
      assert.deepEqual(
        problems.map((problem) => [problem.rule, problem.path]),
        [[rule, path]],
      );
    });
  }

  test('reports all faults at once', () => {
    const { problems } = lowerFilters([{ field: 'a' }, { field: 'b..c', regex: '(' }, {}]);
    assert.deepEqual(
      problems.map(({ rule }) => rule),
      ['filter-operator', 'filter-field', 'regex-syntax', 'filter-shape'],
    );
  });
});

test('a comparison preserves its number', () => {
  for (const operator of ['gt', 'gte', 'lt', 'lte'] as const) {
    const field = { in: 'root', path: ['n'] };
    assert.deepEqual(leaf({ field: 'n', [operator]: -0.5 }), { kind: 'leaf', field, operator, value: -0.5 });
  }
});

describe('regex', () => {
  for (const [source, fault, hasHint] of [
    ['(unclosed', '(unclosed', false],
    ['x[z-a]y', 'z-a', false],
    ['ab**', '**', false],
    ['foo(?=bar)', '(?=', true],
    ['foo(?!bar)', '(?!', true],
    ['(?<=a)b', '(?<=a)b', true],
    ['(a)\\1', '\\1', true],
  ] as const) {
    test(`${source} is rejected at ${fault}`, () => {
      const { plan, problems } = lowerFilters({ field: 'a', regex: source });
      assert.equal(plan, null);
      const [problem] = problems;
      assert.equal(problem?.rule, 'regex-syntax');
      assert.deepEqual(problem.path, ['regex']);
      assert.deepEqual(problem.within, { offset: source.indexOf(fault), length: fault.length });
      assert.equal(problem.hint !== undefined, hasHint);
    });
  }

  test('accepts a nested quantifier, because the engine is linear', () => {
    assert.deepEqual(lowerFilters({ field: 'a', regex: '^(a+)+$' }).problems, []);
  });
});

test('normalises relative list files; others are unchanged', () => {
  const file = (in_file: string): unknown => {
    const plan = leaf({ field: 'a', in_file });
    return plan?.kind === 'leaf' ? plan.value : null;
  };
  assert.equal(file('lists/users.txt'), 'lists/users.txt');
  assert.equal(file('./lists/users.txt'), 'lists/users.txt');
  assert.equal(file('<home_dir>/users.json'), 'users.json');
  assert.equal(file('~/users.json'), '~/users.json');
  assert.equal(file('/etc/users'), '/etc/users');
});

describe('lists', () => {
  for (const [filter, rule, path] of [
    [{ any_of: 'a' }, 'filter-shape', []],
    [{ all_of: 'a', where: { field: 'b', equals: 1 }, field: 'c' }, 'filter-shape', []],
    [{ any_of: 'a', all_of: 'b', where: { field: 'c', equals: 1 } }, 'filter-shape', []],
    [{ field: 'a', equals: 1, where: { field: 'c', equals: 1 } }, 'filter-shape', []],
    [{ all: [{ field: 'a', equals: 1 }], where: { field: 'c', equals: 1 } }, 'filter-shape', []],
    [{ any_of: 'a..b', where: { field: 'c', equals: 1 } }, 'filter-field', ['any_of']],
    [{ any_of: '.', where: { field: 'c', equals: 1 } }, 'filter-field', ['any_of']],
    [{ any_of: 'a', where: { field: 'c' } }, 'filter-operator', ['where']],
    [{ any_of: 'a', where: [{ field: '..', equals: 1 }] }, 'filter-field', ['where', 0, 'field']],
    [
      { any_of: 'a', where: { any_of: 'b', where: { field: 'c', regex: '(' } } },
      'regex-syntax',
      ['where', 'where', 'regex'],
    ],
    [{ field: '.', equals: 1 }, 'filter-field', ['field']],
  ] as const)
    test(`${JSON.stringify(filter)} is ${rule}`, () => {
      const { plan, problems } = lowerFilters(filter as FilterConfig);
      assert.equal(plan, null);
      assert.deepEqual(
        problems.filter(({ message }) => message !== '').map((problem) => [problem.rule, problem.path]),
        [[rule, path]],
      );
    });
});
