/** Compares the result of an event with what a test expects. */
import { isDeepStrictEqual } from 'node:util';
import { RE2JS } from 're2js';
import type { NodePath } from '../../../../compiler/diagnostics/diagnostic.ts';
import type { Explanation, RouteTable, TestExpectation, TextExpectation } from '../../../../schemas/generated/types.ts';
import { otherReason } from '../explain/format-explanation.ts';

export interface Failure {
  /** Path of the expectation, relative to the test. */
  readonly path: NodePath;
  readonly message: string;
  /** Multi-line texts for a diff; null if the message is sufficient. */
  readonly expected: string | null;
  readonly actual: string | null;
}

type Expected<Key extends keyof TestExpectation> = NonNullable<TestExpectation[Key]>;
type Compare<Key extends keyof TestExpectation> = (
  expected: Expected<Key>,
  explanation: Explanation,
  table: Pick<RouteTable, 'target_names'>,
) => readonly Failure[];

const expectedKeys = ({ snapshot: _, ...expected }: TestExpectation) =>
  Object.keys(expected) as (keyof typeof COMPARED)[];

const COMPARED: { readonly [Key in Exclude<keyof TestExpectation, 'snapshot'>]: Compare<Key> } = {
  outcome: (expected, actual) =>
    expected === actual.outcome ? [] : [failure(['outcome'], `expected ${expected}, got ${answerOf(actual)}`)],
  reason: (expected, { reason }) =>
    expected === reason ? [] : [failure(['reason'], `expected ${expected}, got ${reason ?? 'none'}`)],
  event: (expected, { event }) =>
    expected === event
      ? []
      : [failure(['event'], `expected ${expected}, got ${event ?? 'none: the type was not read'}`)],
  response: (expected, { status, response }) =>
    Object.entries(expected).flatMap(([key, wanted]) => {
      const actual = key === 'status' ? status : response?.[key as keyof typeof response];
      return same('response', wanted, actual ?? 'none: `respond` sets none', key);
    }),
  events: (expected, { events = [] }, table) => {
    if (events.length !== expected.length)
      return [failure(['events'], `expected ${expected.length} events, got ${events.length}`)];
    return events.flatMap((event, at) => {
      const wanted = expected[at] ?? {};
      const failures = expectedKeys(wanted).flatMap((key) => compareKey(key, wanted, event, table));
      return failures.map((one) => ({ ...one, path: ['events', at, ...one.path] }));
    });
  },
  prompt: comparePrompt,
  unresolved: (expected, { unresolved }) => same('unresolved', expected, unresolved),
  deliver: (expected, { deliveries }, { target_names: names }) => {
    const canonical = (name: string): string => (Object.hasOwn(names, name) ? (names[name] ?? name) : name);
    const targets = deliveries.map(({ target }) => target);
    const isSame = same('deliver', listOf(expected).map(canonical), targets.map(canonical)).length === 0;
    return isSame ? [] : same('deliver', listOf(expected), targets);
  },
  address: (expected, { deliveries }) => {
    const wanted = (Array.isArray(expected) ? expected : [expected]).map(asTexts);
    // The home channel is compared only if the expectation names a chat.
    const all = deliveries.map((delivery, at) =>
      wanted[at]?.chat_id === undefined ? ownAddress(delivery) : delivery.address,
    );
    return same('address', wanted, all);
  },
  approve: (expected, { deliveries }) =>
    same(
      'approve',
      expected,
      deliveries.some(({ approve }) => approve === true),
    ),
  outputs: (expected, { outputs = [] }) => {
    const wanted = Object.entries(expected).map(([name, address]) => [name, asTexts(address)]);
    const addresses = outputs.map((output) => [output.output, ownAddress(output)]);
    return same('outputs', Object.fromEntries(wanted), Object.fromEntries(addresses));
  },
  toolsets: (expected, { toolsets }) => same('toolsets', [...expected].sort(), [...toolsets].sort()),
  skills: (expected, { skills }) => same('skills', expected, skills),
  agent: (expected, { agent, agent_name: name }) =>
    expected === agent ? [] : same('agent', expected, name ?? agent ?? 'none'),
  job: (expected, { job }) => same('job', expected, job ?? 'none'),
  session: (expected, { session }) => same('session', expected, session ?? 'none'),
};

/** Returns the failures in the order of the expectation. A test without expectations fails, because it proves nothing. */
export function compare(
  expect: TestExpectation,
  explanation: Explanation,
  table: Pick<RouteTable, 'target_names'>,
): readonly Failure[] {
  const { snapshot } = expect;
  const keys = expectedKeys(expect);
  if (keys.length === 0) {
    const how =
      snapshot === true ? 'write the snapshot with hookwright test --update' : 'write what is expected under `expect`';
    return [failure([], `the test has no expectation: ${how}`)];
  }
  return keys.flatMap((key) => compareKey(key, expect, explanation, table));
}

/** What a request as a whole has, if it is a list of events. */
const OF_BATCH: ReadonlySet<keyof TestExpectation> = new Set(['outcome', 'reason', 'event', 'response', 'events']);

function compareKey<Key extends keyof typeof COMPARED>(
  key: Key,
  expect: TestExpectation,
  explanation: Explanation,
  table: Pick<RouteTable, 'target_names'>,
): readonly Failure[] {
  const expected = expect[key];
  if (explanation.events !== undefined && !OF_BATCH.has(key))
    return [failure([key], 'the request is a list of events: write this under `events`, for each of them')];
  const compareOne: Compare<Key> = COMPARED[key];
  return expected === undefined || expected === null ? [] : compareOne(expected as Expected<Key>, explanation, table);
}

function comparePrompt(expected: Expected<'prompt'>, { prompt, ...explanation }: Explanation): readonly Failure[] {
  if (prompt === null) return [failure(['prompt'], `there is no prompt: the event is ${answerOf(explanation)}`)];
  const { equals, contains, not_contains, matches }: TextExpectation =
    typeof expected === 'string' ? { equals: expected } : expected;
  const at = (key: string): NodePath => (typeof expected === 'string' ? ['prompt'] : ['prompt', key]);
  return [
    ...(equals === undefined || trimEnd(equals) === trimEnd(prompt)
      ? []
      : [{ path: at('equals'), message: 'the prompt differs', expected: equals, actual: prompt }]),
    ...listOf(contains ?? [])
      .filter((part) => !prompt.includes(part))
      .map((part) => failure(at('contains'), `the prompt does not contain ${JSON.stringify(part)}`, prompt)),
    ...listOf(not_contains ?? [])
      .filter((part) => prompt.includes(part))
      .map((part) => failure(at('not_contains'), `the prompt contains ${JSON.stringify(part)}`, prompt)),
    ...(matches === undefined || RE2JS.compile(matches).test(prompt)
      ? []
      : [failure(at('matches'), `the prompt does not match ${matches}`, prompt)]),
  ];
}

export const failure = (path: NodePath, message: string, actual: string | null = null): Failure => ({
  path,
  message,
  expected: null,
  actual,
});

function same(key: string, expected: unknown, actual: unknown, ...below: NodePath): readonly Failure[] {
  if (isDeepStrictEqual(expected, actual)) return [];
  return [failure([key, ...below], `expected ${print(expected)}, got ${print(actual)}`)];
}

/** The address from `deliver_extra`, without the home channel. */
export function ownAddress({ address, home_channel }: Explanation['deliveries'][number]): Record<string, string> {
  const { chat_id: _, ...others } = address;
  return home_channel ? others : address;
}

const print = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const listOf = (value: string | readonly string[]): readonly string[] => (typeof value === 'string' ? [value] : value);
const asTexts = (address: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(Object.entries(address).map(([key, value]) => [key, String(value)]));
/** The line break at the end of a YAML block scalar is rarely intended. */
const trimEnd = (text: string): string => text.replace(/\n+$/, '');

const answerOf = (explanation: Pick<Explanation, 'outcome' | 'reason'>): string =>
  [explanation.outcome, ...otherReason(explanation).map((reason) => `(${reason})`)].join(' ');
