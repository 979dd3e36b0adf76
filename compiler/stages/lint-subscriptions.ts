/** Checks the home's subscriptions along with a config: warns about entries that a running gateway would reject. */
import { join } from 'node:path';
import type { Problem } from '../diagnostics/problem.ts';
import { isError } from '../diagnostics/rule.ts';
import { displayPath } from '../source/display-path.ts';
import { fileTree } from '../source/file-tree.ts';
import type { HomeDisk } from '../source/files.ts';
import { parseYaml } from '../source/parse-yaml.ts';
import { readText } from '../source/read-text.ts';
import type { Report } from '../source/report.ts';
import { START } from '../text/source-text.ts';
import type { RouteScope } from '../views/views.ts';
import type { CompiledSubscriptions, SubscriptionProblem } from './compile-subscriptions.ts';
import { compileSubscriptions, SUBSCRIPTIONS_FILE, SubscriptionsError } from './compile-subscriptions.ts';

export interface SubscriptionLint extends HomeDisk {
  /** Its table includes the static routes. */
  readonly scope: RouteScope;
}

/** Returns the subscriptions that are served: none if the home has no subscriptions file. */
export function lintSubscriptions(
  { files, cwd, home, scope }: SubscriptionLint,
  report: Report,
): CompiledSubscriptions['entries'] {
  const path = join(home, SUBSCRIPTIONS_FILE);
  const read = readText(files, path);
  if (!read.ok && read.missing) return [];
  const source = { path, name: displayPath(path, cwd), text: read.ok ? read.text : '' };
  const compiled = read.ok ? compileOrReason(read.text, scope) : read.message;
  // JSON is YAML, and the YAML parser keeps positions.
  const { file, findings } = parseYaml(source);
  if (typeof compiled === 'string' || file === null) {
    const reason = typeof compiled === 'string' ? compiled : 'it cannot be read';
    const message = `${reason}; the gateway keeps the subscriptions it has`;
    report.add([{ rule: 'subscription-rejected', source, range: START, message }]);
    return [];
  }
  report.add(findings.map((finding) => ({ ...finding, rule: 'subscription-rejected' })));
  const tree = fileTree(file);
  report.addProblems(compiled.problems.flatMap(asWarnings), tree);
  const isShadowed = ({ name }: { readonly name: string }): boolean => Object.hasOwn(scope.table.routes, name);
  report.addProblems(
    compiled.routes.filter(isShadowed).map(({ name }) => asShadowed(name)),
    tree,
  );
  return compiled.entries.filter((entry) => !isShadowed(entry));
}

function compileOrReason(text: string, scope: RouteScope): CompiledSubscriptions | string {
  try {
    return compileSubscriptions(text, scope);
  } catch (error) {
    if (error instanceof SubscriptionsError) return error.message;
    throw error;
  }
}

function asWarnings({ subscription, ...problem }: SubscriptionProblem): readonly Problem[] {
  if (!isError(problem)) return [problem];
  const message = `the gateway rejects the subscription \`${subscription}\`: ${problem.message}`;
  return [{ ...problem, rule: 'subscription-rejected', message }];
}

const asShadowed = (name: string): Problem => ({
  rule: 'unreachable-route',
  path: [name],
  at: 'key',
  message: `a static route is also called \`${name}\` and takes precedence: no request reaches this subscription`,
});
