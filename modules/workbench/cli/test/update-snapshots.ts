/** Updates the expectations of snapshot tests from the results of their events, and preserves comments in the file. */
import { readFileSync } from 'node:fs';
import { Document, isMap, parseDocument } from 'yaml';
import { groupBy } from '../../../../base/group-by.ts';
import { writeAtomic } from '../../../../runtime/platform/files.ts';
import type { Explanation, TestExpectation, TestResponse } from '../../../../schemas/generated/types.ts';
import { ownAddress } from './compare.ts';
import type { TestResult } from './run-tests.ts';

type Expected = { [Key in Exclude<keyof TestExpectation, 'snapshot'>]?: TestExpectation[Key] };

/** The keys of a new snapshot. */
const USUAL: readonly (keyof Expected)[] = [
  'outcome',
  'reason',
  'event',
  'prompt',
  'unresolved',
  'deliver',
  'address',
  'events',
];

/** @returns paths of the files that changed */
export function updateSnapshots(results: readonly TestResult[]): string[] {
  const marked = results.filter(({ loaded, found }) => loaded.test.expect.snapshot === true && found !== null);
  const byPath = groupBy(marked, ({ loaded }) => loaded.tests.path);
  return [...byPath].filter(([path, tests]) => updateFile(path, tests)).map(([path]) => path);
}

function updateFile(path: string, results: readonly TestResult[]): boolean {
  const text = readFileSync(path, 'utf8');
  const updated = results.reduce(withSnapshot, text);
  if (updated === text) return false;
  writeAtomic(path, updated, 0o644);
  return true;
}

/** Returns the text with the updated expectation of this test; the rest is unchanged. */
function withSnapshot(text: string, result: TestResult): string {
  const document = parseDocument(text);
  const expect = document.getIn(['tests', result.loaded.index, 'expect'], true);
  if (!isMap(expect) || !expect.range) return text;
  const [from, to] = expect.range;
  updateTest(document, result);
  const alone = new Document();
  alone.contents = expect as never;
  const indent = ' '.repeat(from - (text.lastIndexOf('\n', from - 1) + 1));
  const lines = alone.toString({ lineWidth: 0 }).trimEnd().split('\n');
  const [first = '', ...others] = expect.flow === true ? [lines.join(' ')] : lines;
  const printed = [first, ...others.map((line) => (line === '' ? '' : indent + line))].join('\n');
  const [blank] = /\s*$/.exec(text.slice(from, to)) ?? [''];
  return text.slice(0, from) + printed + blank + text.slice(to);
}

function updateTest(document: Document, { loaded, found }: TestResult): void {
  if (found === null) return;
  const { expect } = loaded.test;
  const actual = expectationOf(found.explanation);
  const named = Object.keys(expect).filter((key): key is keyof Expected => key !== 'snapshot');
  for (const key of named.length === 0 ? USUAL : named) {
    const path = ['tests', loaded.index, 'expect', key];
    const value = key === 'prompt' ? promptOf(expect.prompt, actual.prompt) : actual[key];
    if (value === undefined) document.deleteIn(path);
    else document.setIn(path, document.createNode(value));
  }
}

/** An expectation of parts of the prompt keeps them; otherwise the whole prompt is expected. */
function promptOf(expected: TestExpectation['prompt'], actual: TestExpectation['prompt']): TestExpectation['prompt'] {
  if (typeof expected === 'object' && expected.equals === undefined) return expected;
  return typeof expected === 'object' && typeof actual === 'string' ? { ...expected, equals: actual } : actual;
}

/** Returns everything that a test can expect of an event, in the format of a test. */
export function expectationOf(explanation: Explanation): Expected {
  const { outcome, reason, event, prompt, unresolved, deliveries, toolsets, skills, agent, job, session } = explanation;
  const { status, response, events } = explanation;
  const [first] = deliveries;
  const isRendered = prompt !== null;
  return {
    outcome,
    ...(reason === null || reason === outcome ? {} : { reason }),
    ...(event === null ? {} : { event }),
    ...(isRendered ? { prompt, deliver: listOrOne(deliveries.map(({ target }) => target)) } : {}),
    ...(isRendered && unresolved.length > 0 ? { unresolved } : {}),
    ...(first === undefined
      ? {}
      : { address: deliveries.length === 1 ? ownAddress(first) : deliveries.map(ownAddress) }),
    ...(isRendered ? { toolsets, skills } : {}),
    ...(agent === null ? {} : { agent: explanation.agent_name ?? agent }),
    ...(job === null ? {} : { job }),
    ...(session === null ? {} : { session }),
    ...(response === undefined ? {} : { response: { status, ...responseOf(response) } }),
    ...(events === undefined ? {} : { events: events.map(usualOf) }),
  };
}

/** The same, of the usual keys. */
export const usualOf = (explanation: Explanation): Expected => {
  const all = expectationOf(explanation);
  return Object.fromEntries(USUAL.flatMap((key) => (all[key] === undefined ? [] : [[key, all[key]]])));
};

/** Without what is not there. */
const responseOf = ({ content_type, headers, body }: NonNullable<Explanation['response']>): TestResponse => ({
  ...(content_type === null ? {} : { content_type }),
  ...(Object.keys(headers).length === 0 ? {} : { headers }),
  body,
});

const listOrOne = (targets: string[]): string | string[] => (targets.length === 1 ? (targets[0] ?? []) : targets);
