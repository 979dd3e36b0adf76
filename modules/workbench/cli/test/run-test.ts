/** Runs a test: makes its request, explains it, and compares the result. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isSystemError } from '../../../../base/system-error.ts';
import { routePath } from '../../../../cli/subscriptions/address.ts';
import { suggest } from '../../../../compiler/text/suggest.ts';
import type { RunScript } from '../../../../runtime/intake/script-runner.ts';
import { scriptOutcome } from '../../../../runtime/intake/script-runner.ts';
import type { LinkedRoute } from '../../../../runtime/table/linked-table.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import { partsOf } from '../../../../runtime/verify/request.ts';
import type { Explanation, RoutePlan, TestCase } from '../../../../schemas/generated/types.ts';
import { explainRequest } from '../../runtime/explain/explain-request.ts';
import { Warnings } from '../../runtime/explain/warnings.ts';
import { readSaved } from '../explain/read-request.ts';
import type { Failure } from './compare.ts';
import { compare } from './compare.ts';
import type { LoadedTest } from './load-tests.ts';
import type { TestedConfig } from './tested-config.ts';

export interface TestResult {
  readonly loaded: LoadedTest;
  /** Null if there is no such route, or no request can be made. */
  readonly found: { readonly plan: RoutePlan; readonly explanation: Explanation } | null;
  readonly failures: readonly Failure[];
  /** Further files that it was made from; absolute paths. */
  readonly inputs: readonly string[];
}

/** Never rejects because of the content of a test file. */
export async function runTest(loaded: LoadedTest, config: TestedConfig): Promise<TestResult> {
  const { test } = loaded;
  const plan = config.plan(test.route);
  if (plan === null) return failed(loaded, ['route'], unknownRoute(test.route, config));
  const linked = config.linked(plan);
  const made = await makeRequest(loaded, plan, linked.route.body);
  if ('problem' in made) return { ...failed(loaded, [made.key], made.problem), inputs: made.inputs };
  const explanation = await explainRequest(
    {
      ...linked,
      agent: config.table.profiles[plan.profile]?.agent.kind ?? null,
      request: made.parts,
      event: test.event ?? null,
      runScript: plan.script === null ? null : await scriptFor(test, config),
      warnings: new Warnings(),
    },
    config.explaining,
  );
  const failures = compare(test.expect, explanation, config.table);
  return { loaded, found: { plan, explanation }, failures, inputs: made.inputs };
}

const failed = (loaded: LoadedTest, path: Failure['path'], message: string): TestResult => ({
  loaded,
  found: null,
  failures: [{ path, message, expected: null, actual: null }],
  inputs: [],
});

function unknownRoute(name: string, { table }: TestedConfig): string {
  const [close] = suggest(
    name,
    Object.values(table.routes).map((route) => route.name),
  );
  return `there is no route "${name}"${close === undefined ? '' : `: did you mean ${close}?`}`;
}

type Made =
  | { readonly parts: RequestParts; readonly inputs: readonly string[] }
  | { readonly key: string; readonly problem: string; readonly inputs: readonly string[] };

async function makeRequest({ tests, test }: LoadedTest, plan: RoutePlan, format: LinkedRoute['body']): Promise<Made> {
  const path = routePath(plan);
  const headers = Object.entries(test.headers ?? {});
  const key = test.request === undefined ? 'payload_file' : 'request';
  const named = test.request ?? test.payload_file;
  if (named === undefined) {
    // A text or a document is written as it is sent.
    const isText = (format === 'text' || format === 'xml') && typeof test.payload === 'string';
    const body = Buffer.from(isText ? String(test.payload) : JSON.stringify(test.payload));
    return { parts: partsOf('POST', path, headers, body), inputs: [] };
  }
  const file = resolve(dirname(tests.path), named);
  try {
    const bytes = readFileSync(file);
    if (test.request === undefined) return { parts: partsOf('POST', path, headers, bytes), inputs: [file] };
    const { parts } = await readSaved(bytes, headers, path);
    return { parts, inputs: [file] };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const problem = isSystemError(error) ? `the file cannot be read: ${error.message}` : error.message;
    return { key, problem, inputs: [file] };
  }
}

/** The stand-in that the test names, else the script itself. */
async function scriptFor({ script }: TestCase, config: TestedConfig): Promise<RunScript> {
  if (script === undefined) return config.runScript();
  const stdout = Buffer.from(script.stdout ?? '');
  return async () => scriptOutcome({ kind: 'exit', code: script.exit ?? 0, signal: null, stdout, stderr: '' });
}
