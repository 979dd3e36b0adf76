/** Runs test files against their configurations, several tests at once, and keeps the results in the order of the files. */
import { labelIn } from '../../../../base/label.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';
import type { Coverage } from './coverage.ts';
import { measureCoverage } from './coverage.ts';
import { configsOf } from './find-tests.ts';
import type { LoadedTest, LoadedTests } from './load-tests.ts';
import type { TestResult } from './run-test.ts';
import { runTest } from './run-test.ts';
import type { TestedConfig } from './tested-config.ts';
import { openTested } from './tested-config.ts';

export interface TestRun {
  readonly results: readonly TestResult[];
  readonly coverage: Coverage;
  /** Absolute paths of everything that the results depend on, except what scripts read. */
  readonly inputs: readonly string[];
}

/** Maximum number of concurrent tests, because scripts are processes. */
const AT_ONCE = 8;

/** @throws CliError when a configuration does not compile */
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
  const plans = [...opened.values()].flatMap(({ table }) => Object.values(table.routes));
  const targets = Object.assign({}, ...[...opened.values()].map(({ table }) => table.targets)) as RouteTable['targets'];
  const label = (target: string): string => labelIn(targets, target);
  const inputs = [
    ...files.map(({ path }) => path),
    ...[...opened.values()].flatMap((config) => config.inputs),
    ...results.flatMap((result) => result.inputs),
  ];
  const observed = results.flatMap(({ found }) => (found === null ? [] : [found]));
  return { results, coverage: measureCoverage(plans, observed, label), inputs: [...new Set(inputs)] };
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
