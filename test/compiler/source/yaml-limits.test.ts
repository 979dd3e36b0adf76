/** Deep YAML is rejected before it is composed, so that it ends no process. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileFiles } from '../../helpers/compile.ts';

const many = (count: number, text: string | ((index: number) => string)): string =>
  Array.from({ length: count }, (_, index) => (typeof text === 'string' ? text : text(index))).join('');

const N = 100_000;

const DEEP: Readonly<Record<string, string>> = {
  'open brackets': `a: ${many(N, '[')}`,
  'closed brackets': `a: ${many(N, '[')}${many(N, ']')}`,
  'open braces': `a: ${many(N, '{')}`,
  'maps in braces': `a: ${many(N, '{a: ')}`,
  JSON: `${many(N, '{"a":')}1${many(N, '}')}`,
  'lists in one line': many(N, '- '),
  'explicit keys': many(N, '? '),
  'explicit values': many(N, ': '),
  anchors: `a: ${many(N, (index) => `&a${index} [`)}`,
  'brackets with siblings': `a: ${many(N, '[[],')}`,
  'indented maps': many(3000, (index) => `${' '.repeat(index)}a:\n`),
  'flow in block': many(2000, (index) => `${' '.repeat(index)}- - ? [\n`),
  'a nested include': `include:\n${many(300, (index) => `${' '.repeat(index + 1)}-\n`)}`,
};

const messages = (text: string): readonly string[] =>
  compileFiles({ 'hookwright.yaml': text }).diagnostics.map(({ rule }) => rule);

describe('YAML beyond its limits is one error', () => {
  for (const [name, text] of Object.entries(DEEP)) test(name, () => assert.deepEqual(messages(text), ['yaml-syntax']));
});

test('nesting that a file may have is still read', () => {
  const deep = `x-notes: ${many(190, '[')}${many(190, ']')}\nplatforms: {}\n`;
  assert.deepEqual(messages(deep), messages('platforms: {}\n'));
});
