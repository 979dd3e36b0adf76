/**
 * Runs test files against their configurations: creates each test's request, explains it, and compares the result. Several
 * tests run at once; the results are in the order of the files.
 */

import { dirname, resolve } from 'node:path';
import { isSystemError } from '../../../../base/errors.ts';
import { writeJson } from '../../../../base/exact-number.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { routePath } from '../../../../cli/subscriptions/routes.ts';
import type { Diagnostic } from '../../../../compiler/diagnostics/diagnostic.ts';
import { createLines } from '../../../../compiler/print/lines.ts';
import { suggest } from '../../../../compiler/text/suggest.ts';
import type { RunScript } from '../../../../runtime/intake/script-runner.ts';
import { scriptOutcome } from '../../../../runtime/intake/script-runner.ts';
import type { LinkedRoute } from '../../../../runtime/table/linked-table.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import type { Explanation, RoutePlan, TestCase } from '../../../../schemas/generated/types.ts';
import { readSaved, requestTo } from '../explain/read-request.ts';
import type { Failure } from './compare.ts';
import { compare, failure } from './compare.ts';
import type { Coverage } from './coverage.ts';
import { measureCoverage } from './coverage.ts';
import type { LoadedTest, LoadedTests, TestedConfig } from './load-tests.ts';
import { configsOf, openTested } from './load-tests.ts';

export interface TestRun {
  readonly results: readonly TestResult[];
  readonly coverage: Coverage;
  /** Absolute paths of all files that the results depend on, except files that scripts read. */
  readonly inputs: readonly string[];
}

/** Maximum number of concurrent tests; scripts are processes. */
const AT_ONCE = 8;

/** @throws CliError if a configuration does not compile */
export async function runTests(
  context: CliContext,
  files: readonly LoadedTests[],
  configs: readonly string[] | undefined,
): Promise<TestRun> {
  const opened = new Map<string, TestedConfig>();
  const tests: { readonly loaded: LoadedTest; readonly config: TestedConfig }[] = [];
  for (const each of files) {
    const named = configsOf(each, configs);
    const key = JSON.stringify(named ?? null);
    const config = opened.get(key) ?? (await openTested(context, named));
    opened.set(key, config);
    for (const [index, test] of each.file.tests.entries()) tests.push({ loaded: { tests: each, index, test }, config });
  }
  const results = await inOrder(tests, ({ loaded, config }) => runTest(loaded, config));
  const tested = [...opened.values()];
  const plans = tested.flatMap(({ table }) => Object.values(table.routes));
  const inputs = [
    ...files.map(({ path }) => path),
    ...tested.flatMap((config) => config.inputs),
    ...results.flatMap((result) => result.inputs),
  ];
  const observed = results.flatMap(({ found }) => {
    if (found === null) return [];
    const { plan, explanation } = found;
    return [explanation, ...(explanation.events ?? [])].map((one) => ({ plan, explanation: one }));
  });
  return { results, coverage: measureCoverage(plans, observed), inputs: [...new Set(inputs)] };
}

async function inOrder<Item, Result>(items: readonly Item[], run: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at];
      if (item !== undefined) results[at] = await run(item);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

export interface TestResult {
  readonly loaded: LoadedTest;
  /** Null if the route does not exist, or no request can be created. */
  readonly found: { readonly plan: RoutePlan; readonly explanation: Explanation } | null;
  readonly failures: readonly Failure[];
  /** Absolute paths of further files that the test reads. */
  readonly inputs: readonly string[];
}

/** Never rejects because of the content of a test file. */
export async function runTest(loaded: LoadedTest, config: TestedConfig): Promise<TestResult> {
  const { test } = loaded;
  const plan = config.plan(test.route);
  if (plan === null) return failed(loaded, ['route'], unknownRoute(test.route, config));
  const { route } = await config.linked(plan);
  const builtRequest = await makeRequest(loaded, plan, route.body);
  if ('problem' in builtRequest)
    return { ...failed(loaded, [builtRequest.key], builtRequest.problem), inputs: builtRequest.inputs };
  const explanation = await config.explain(plan, {
    request: builtRequest.parts,
    event: test.event ?? null,
    ...(test.came_at === undefined ? {} : { cameAt: Date.parse(test.came_at) }),
    runScript: plan.script === null ? null : await scriptFor(test, config),
  });
  const failures = compare(test.expect, explanation, config.table);
  return { loaded, found: { plan, explanation }, failures, inputs: builtRequest.inputs };
}

const failed = (loaded: LoadedTest, path: Failure['path'], message: string): TestResult => ({
  loaded,
  found: null,
  failures: [failure(path, message)],
  inputs: [],
});

function unknownRoute(name: string, { table }: TestedConfig): string {
  const [close] = suggest(
    name,
    Object.values(table.routes).map((route) => route.name),
  );
  return `unknown route "${name}"${close === undefined ? '' : `; did you mean ${close}?`}`;
}

type TestInput =
  | { readonly parts: RequestParts; readonly inputs: readonly string[] }
  | { readonly key: string; readonly problem: string; readonly inputs: readonly string[] };

async function makeRequest(
  { tests, test }: LoadedTest,
  plan: RoutePlan,
  format: LinkedRoute['body'],
): Promise<TestInput> {
  const path = routePath(plan);
  const headers = Object.entries(test.headers ?? {});
  const key = test.request === undefined ? 'payload_file' : 'request';
  const named = test.request ?? test.payload_file;
  if (named === undefined) {
    // A text or an XML document is sent as written.
    const isText = (format === 'text' || format === 'xml') && typeof test.payload === 'string';
    const body = Buffer.from(isText ? String(test.payload) : writeJson(test.payload));
    return { parts: requestTo(path, headers, body), inputs: [] };
  }
  const file = resolve(dirname(tests.path), named);
  try {
    const bytes = Buffer.from(tests.named.read(file));
    if (test.request === undefined) return { parts: requestTo(path, headers, bytes), inputs: [file] };
    const { parts } = await readSaved(bytes, headers, path);
    return { parts, inputs: [file] };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const problem = isSystemError(error) ? `the file cannot be read: ${error.message}` : error.message;
    return { key, problem, inputs: [file] };
  }
}

/** The replacement that the test describes, else the script itself. */
async function scriptFor({ script }: TestCase, config: TestedConfig): Promise<RunScript> {
  if (script === undefined) return config.runScript();
  const stdout = Buffer.from(script.stdout ?? '');
  return async () => scriptOutcome({ kind: 'exit', code: script.exit ?? 0, signal: null, stdout, stderr: '' });
}

/** A failure with its position in the test file. */
export interface PlacedFailure extends Failure {
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly diagnostic: Diagnostic;
}

/** Finds the position of the expectation of each failure. */
export function placeFailures({ loaded, failures }: TestResult): PlacedFailure[] {
  const { tests, index, test } = loaded;
  const lines = createLines();
  return failures.map((failure) => {
    const isRequest = ['route', 'payload_file', 'request'].includes(String(failure.path[0]));
    const path = ['tests', index, ...(isRequest ? [] : ['expect']), ...failure.path];
    const { file, key, value } = tests.tree.place(path);
    const range = key ?? value;
    const { line, column } = lines.positionOf(file.source, range.start);
    const message = `${test.name}: ${String(failure.path.at(-1) ?? 'expect')}: ${failure.message}`;
    const diagnostic: Diagnostic = { rule: 'test', severity: 'error', source: file.source, range, message };
    return { ...failure, line, column, diagnostic };
  });
}
