/**
 * Compiles `webhook_subscriptions.json` against a table: at run time when the file changes, and before it is written.
 * Only invalid entries are rejected; the others are served.
 */

import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { ExactNumber, hasExact, readJson } from '../../base/exact-number.ts';
import { DEFAULT_PROFILE } from '../../base/names.ts';
import type { RouteConfig, RoutePlan } from '../../schemas/generated/types.ts';
import type { WrittenText } from '../config/written-numbers.ts';
import type { Problem } from '../diagnostics/diagnostic.ts';
import { inside } from '../diagnostics/diagnostic.ts';
import { isError } from '../diagnostics/rule.ts';
import { valueAt } from '../schema/pointer.ts';
import { checkShape } from '../schema/validate.ts';
import type { HomeDisk } from '../source/files.ts';
import { displayPath, readText } from '../source/files.ts';
import type { Report } from '../source/find-place.ts';
import { fileTree } from '../source/find-place.ts';
import { parseYaml } from '../source/parse-yaml.ts';
import { isPlainMap } from '../text/plain-data.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import { START } from '../text/source-text.ts';
import type { RouteEntry, RouteScope } from '../views/views.ts';
import { compileRoute } from './compile-route.ts';

export const SUBSCRIPTIONS_FILE = 'webhook_subscriptions.json';

/** A problem of one subscription. Its path starts with the subscription's name. */
export interface SubscriptionProblem extends Problem {
  readonly subscription: string;
}

/** The scope of checking and lowering subscriptions. */
export interface SubscriptionScope extends Pick<RouteScope, 'table' | 'facts' | 'rules'> {
  /** Payload paths are checked only with it; a running gateway omits it. */
  readonly payloads?: RouteScope['payloads'];
}

interface CompiledSubscriptions {
  /** In file order, without rejected entries. Includes routes that a static route shadows. */
  readonly routes: readonly RoutePlan[];
  /** The same routes as written. */
  readonly entries: readonly Pick<RouteEntry, 'name' | 'config'>[];
  /** Entries with errors, each with its first error. */
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
  /** All problems, including warnings. */
  readonly problems: readonly SubscriptionProblem[];
}

/**
 * Pure, except for the lookups of `facts`.
 * @throws SubscriptionsError if the text is not a JSON object
 */
export function compileSubscriptions(
  text: string,
  { table, facts, rules, payloads = null }: SubscriptionScope,
): CompiledSubscriptions {
  const exact = parseJson(text, readJson);
  const data = hasExact(exact) ? parseJson(text, JSON.parse) : exact;
  const at = { file: SUBSCRIPTIONS_FILE, line: 1 };
  const scope: RouteScope = { table, facts, rules, payloads, invalidNames: new Set() };
  const routes: RoutePlan[] = [];
  const entries: CompiledSubscriptions['entries'][number][] = [];
  const rejected: { name: string; reason: string }[] = [];
  const problems: SubscriptionProblem[] = [];
  for (const [name, config] of Object.entries(data)) {
    // Separately, so that no entry affects the errors of another one.
    const shape = checkShape('subscriptions', { [name]: config });
    // An entry that passes the schema is a route config.
    const compiled =
      shape.length > 0
        ? NO_ROUTE
        : compileRoute({ name, config: config as RouteConfig, at, written: numbersOf(exact[name]) }, scope);
    const shared =
      table.gateway.store.kind === 'postgres' && shape.length === 0 ? outsideHome(config as RouteConfig) : [];
    const below = [...compiled.problems, ...shared].map((problem) => inside([name], problem));
    const found = [...shape, ...below].map((problem) => ({ ...problem, subscription: name }));
    problems.push(...found);
    const error = found.find(isError);
    if (error !== undefined) rejected.push({ name, reason: `${error.rule}: ${error.message}` });
    else if (compiled.plan !== null) {
      routes.push(compiled.plan);
      entries.push({ name, config: config as RouteConfig });
    }
  }
  return { routes, entries, rejected, problems };
}

const numbersOf =
  (entry: unknown): WrittenText =>
  (path) => {
    const value = valueAt(entry, path);
    return value instanceof ExactNumber ? String(value) : null;
  };

const NO_ROUTE: ReturnType<typeof compileRoute> = { plan: null, problems: [] };

/**
 * Secrets that are read from a file outside the profile's home. Anyone who can write to a shared database can write
 * subscriptions, and must not choose files on a gateway's machine.
 */
function outsideHome({ secret, secrets, public_key, verify_token }: RouteConfig): readonly Problem[] {
  const rotating = (secrets ?? []).map(
    (item, index) => [['secrets', index], typeof item === 'string' ? item : item.value] as const,
  );
  const written = [
    ...rotating,
    [['secret'], secret] as const,
    [['public_key'], public_key] as const,
    [['verify_token'], verify_token] as const,
  ];
  return written.flatMap(([path, text]): readonly Problem[] => {
    const { kind, value } = parseSecretRef(text ?? '', DEFAULT_PROFILE);
    if (kind !== 'file' || !/^[/~\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(value)) return [];
    const message =
      'with `gateway.store: { postgres: … }`, a subscription may read secrets only from files in its home';
    const hint = 'use a path below the home, such as `file:secrets/sender`, or `env:NAME`';
    return [{ rule: 'secret-reference', path, at: 'value', message, hint }];
  });
}

/** The file is not a map of subscriptions. */
export class SubscriptionsError extends Error {
  override readonly name = 'SubscriptionsError';
}

function parseJson(text: string, parse: (text: string) => unknown): Readonly<Record<string, unknown>> {
  let data: unknown;
  try {
    data = parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    throw new SubscriptionsError(`not JSON: ${messageOf(error)}`);
  }
  if (!isPlainMap(data)) throw new SubscriptionsError('not a JSON object of subscriptions by name');
  return data;
}

/** Checks the home's subscriptions along with a config: warns about entries that a running gateway would reject. */
interface SubscriptionLint extends HomeDisk {
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
    const reason = typeof compiled === 'string' ? compiled : 'the file cannot be read';
    const message = `${reason}; the gateway continues to serve the previous subscriptions`;
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
