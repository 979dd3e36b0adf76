/** Lowers the places of a source (`{header: …}`, `{json: …}`) to locator plans, for the source lowerer. */
import type { Locator, LocatorPlan } from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/problem.ts';

export type ReportFault = (path: NodePath, message: string, hint?: string) => void;

/** One place; reports and returns null when it names no place, or two. */
export function lowerLocator(locator: Locator, path: NodePath, report: ReportFault): LocatorPlan | null {
  const { header, query, json, form } = locator;
  const named = [header, query, form ?? json].filter((name) => name !== undefined);
  if (named.length !== 1) {
    report(path, 'a place is exactly one of `header`, `query`, `json`, `form` (`form` may go with `json`)');
    return null;
  }
  if (json?.split('.').includes('') === true) report([...path, 'json'], `empty part in the path \`${json}\``);
  return {
    in: header !== undefined ? 'header' : query !== undefined ? 'query' : form !== undefined ? 'form' : 'json',
    name: header?.toLowerCase() ?? query ?? form ?? '',
    path: json === undefined ? [] : json.split('.'),
    split: locator.split ?? '',
    prefix: locator.prefix ?? '',
  };
}

/** One place or a list of them. */
export function lowerLocators(
  value: Locator | Locator[] | undefined,
  path: NodePath,
  report: ReportFault,
): LocatorPlan[] {
  if (value === undefined) return [];
  const plans = Array.isArray(value)
    ? value.map((locator, index) => lowerLocator(locator, [...path, index], report))
    : [lowerLocator(value, path, report)];
  return plans.filter((plan) => plan !== null);
}
