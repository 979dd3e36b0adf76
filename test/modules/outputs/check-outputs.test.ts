import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openHandover } from '../../../modules/outputs/runtime/open-handover.ts';
import type { DispatchOutput, DroppedOutput } from '../../../schemas/generated/types.ts';

const TEXT: DispatchOutput['fields'] = [{ name: 'text', kind: 'text', required: true }];

function output(name: string, more: Partial<DispatchOutput> = {}): DispatchOutput {
  const delivery = { target: 'log', extra: { chat_id: name }, unresolved: [] };
  return { name, fields: TEXT, allow: {}, max: 1, delivery, ...more };
}

const LABELS = output('label', {
  fields: [
    { name: 'labels', kind: 'list', required: true },
    { name: 'colour', kind: 'text', required: false, values: ['red', 'blue'] },
  ],
  allow: { labels: ['bug', 'docs'] },
  max: 2,
});
const REVIEW = output('review', {
  fields: [
    {
      ...{ name: 'comments', kind: 'objects', required: true },
      members: [
        { name: 'path', kind: 'text' },
        { name: 'line', kind: 'integer' },
      ],
    },
  ],
});
const ALL = [output('note', { max: 3 }), LABELS, REVIEW];

function check(lines: readonly unknown[], outputs: readonly DispatchOutput[] = ALL) {
  const handover = openHandover(outputs, (text) => text.replaceAll('s3cr3t', '***'));
  handover.take(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))));
  const { deliveries, dropped } = handover.checked();
  return { taken: deliveries.map(({ output: handed }) => handed), deliveries, dropped };
}

const reasons = (dropped: readonly DroppedOutput[]) => dropped.map(({ line, reason }) => [line, reason]);

test('accepts allowed outputs in order, with the address of the route', () => {
  const { taken, deliveries, dropped } = check([
    { output: 'note', text: 'first' },
    { output: 'label', labels: ['bug', 'docs'], colour: 'red' },
    { output: 'note', text: 'second', chat_id: 'elsewhere', repo: 'other/repo' },
    { output: 'review', comments: [{ path: 'a.ts', line: 3, more: 'x' }] },
  ]);
  assert.deepEqual(dropped, []);
  assert.deepEqual(taken, [
    { name: 'note', content: { text: 'first' } },
    { name: 'label', content: { labels: ['bug', 'docs'], colour: 'red' } },
    { name: 'note', content: { text: 'second' } },
    { name: 'review', content: { comments: [{ path: 'a.ts', line: 3 }] } },
  ]);
  assert.deepEqual(
    deliveries.map(({ extra }) => extra.chat_id),
    ['note', 'label', 'note', 'review'],
  );
});

const DROPPED: readonly (readonly [what: string, line: unknown, reason: DroppedOutput['reason']])[] = [
  ['invalid JSON', '{"output": "note"', 'malformed'],
  ['a list', ['note'], 'malformed'],
  ['null', 'null', 'malformed'],
  ['no output', { text: 'x' }, 'malformed'],
  ['an output that is not a string', { output: ['note'], text: 'x' }, 'malformed'],
  ['another name', { output: 'delete', text: 'x' }, 'not_named'],
  ['a name of the object prototype', { output: '__proto__', text: 'x' }, 'not_named'],
  ['another case', { output: 'Note', text: 'x' }, 'not_named'],
  ['no text', { output: 'note' }, 'malformed'],
  ['an empty text', { output: 'note', text: ' \n' }, 'malformed'],
  ['a text that is not a string', { output: 'note', text: { a: 1 } }, 'malformed'],
  ['a list that is not a list', { output: 'label', labels: 'bug' }, 'malformed'],
  ['an empty list', { output: 'label', labels: [] }, 'malformed'],
  ['a list of other things', { output: 'label', labels: ['bug', 7] }, 'malformed'],
  ['one value that is not allowed', { output: 'label', labels: ['bug', 'merge'] }, 'not_allowed'],
  ['a value in another case', { output: 'label', labels: ['Bug'] }, 'not_allowed'],
  ['a value that the service does not accept', { output: 'label', labels: ['bug'], colour: 'mauve' }, 'not_allowed'],
  ['objects without a member', { output: 'review', comments: [{ path: 'a.ts' }] }, 'malformed'],
  ['objects with another type', { output: 'review', comments: [{ path: 'a.ts', line: '3' }] }, 'malformed'],
  ['a list that is too long', { output: 'review', comments: Array(101).fill({ path: 'a', line: 1 }) }, 'malformed'],
];

for (const [what, line, reason] of DROPPED) {
  test(`drops ${what}, and keeps the others`, () => {
    const { taken, dropped } = check([line, { output: 'note', text: 'fine' }]);
    assert.deepEqual(reasons(dropped), [[1, reason]]);
    assert.deepEqual(taken, [{ name: 'note', content: { text: 'fine' } }]);
  });
}

test('accepts only the first outputs up to max; dropped ones do not count', () => {
  const { taken, dropped } = check([
    { output: 'label', labels: ['merge'] },
    { output: 'label', labels: ['bug'] },
    { output: 'label', labels: ['docs'] },
    { output: 'label', labels: ['bug'] },
  ]);
  assert.equal(taken.length, 2);
  assert.deepEqual(reasons(dropped), [
    [1, 'not_allowed'],
    [4, 'over_max'],
  ]);
});

test('drops everything after 100 lines, and reports it once', () => {
  const lines = Array.from({ length: 700 }, () => ({ output: 'note', text: 'x' }));
  const { taken, dropped } = check(lines, [output('note', { max: 1000 })]);
  assert.equal(taken.length, 100);
  assert.deepEqual(dropped, [{ output: null, line: 101, reason: 'unreadable', detail: '600 more than 100 lines' }]);
});

test('replaces known secrets in accepted outputs and in reasons', () => {
  const { taken, dropped } = check([
    { output: 'note', text: 'the key is s3cr3t' },
    { output: 'label', labels: ['s3cr3t'] },
    { output: 's3cr3t', text: 'x' },
  ]);
  assert.doesNotMatch(JSON.stringify([taken, dropped]), /s3cr3t/);
  assert.deepEqual(taken, [{ name: 'note', content: { text: 'the key is ***' } }]);
});

test('shortens dropped outputs and removes control characters', () => {
  const { dropped } = check([{ output: `x\u001b[2J${'y'.repeat(500)}`, text: 'x' }]);
  assert.match(dropped[0]?.output ?? '', /^x\ufffd\[2Jy+…$/);
  assert.ok((dropped[0]?.output ?? '').length < 110);
});

test('reports an unreadable file, and accepts nothing', () => {
  const handover = openHandover(ALL, (text) => text);
  handover.refuse('EISDIR');
  const detail = 'EISDIR';
  assert.deepEqual(handover.checked(), {
    deliveries: [],
    dropped: [{ output: null, line: 0, reason: 'unreadable', detail }],
  });
});

test('describes the same outputs, fields and values as tools for models', () => {
  const [label, noop, ...others] = openHandover([{ ...LABELS, required: true }], (text) => text).tools;
  assert.deepEqual([noop?.name, noop?.parameters.required, others], ['noop', ['reason'], []]);
  assert.deepEqual(
    [label],
    [
      {
        name: 'label',
        description: 'Submits a message for log, at most 2 times. Returns no result. Required, unless noop is called.',
        parameters: {
          type: 'object',
          properties: {
            labels: { type: 'array', items: { type: 'string', enum: ['bug', 'docs'] } },
            colour: { type: 'string', enum: ['red', 'blue'] },
          },
          required: ['labels'],
          additionalProperties: false,
        },
      },
    ],
  );
});

test('accepts one `noop` with a reason as the built-in output', () => {
  const said = (...lines: readonly unknown[]) => {
    const handover = openHandover(ALL, (text) => text.replaceAll('s3cr3t', '***'));
    handover.take(lines.map((line) => JSON.stringify(line)));
    const { noop, deliveries, dropped } = handover.checked();
    return [noop, deliveries.length, ...reasons(dropped)];
  };
  const output = 'noop';
  assert.deepEqual(said({ output, reason: 'no s3cr3t here' }), ['no *** here', 0]);
  assert.deepEqual(said({ output, reason: 'one' }, { output, reason: 'two' }), ['one', 0, [2, 'over_max']]);
  assert.deepEqual(said({ output }, { output, reason: ' ' }, { output, reason: 7 }), [
    ...[undefined, 0, [1, 'malformed'], [2, 'malformed'], [3, 'malformed']],
  ]);
  assert.equal(String(said({ output, reason: 'x'.repeat(100_000) })[0]).length < 600, true);
});
