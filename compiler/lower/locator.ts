/** Lowers the locators of a source (`{header: …}`, `{json: …}`) to plans. */
import type { Locator, LocatorPlan } from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/problem.ts';

export type ReportFault = (path: NodePath, message: string, hint?: string) => void;

/** Lowers one locator. If it names no place or several, reports that and returns null. */
export function lowerLocator(locator: Locator, path: NodePath, report: ReportFault): LocatorPlan | null {
  const { header, query, json, form } = locator;
  const named = [header, query, form ?? json].filter((name) => name !== undefined);
  if (named.length !== 1) {
    report(path, 'a place has exactly one of `header`, `query`, `json`, `form` (`form` may go with `json`)');
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

/** Lowers one value or a list of them. The path of an item has its index. */
export function lowerEach<T extends object, P>(
  value: T | T[] | undefined,
  path: NodePath,
  lower: (item: T, path: NodePath) => P,
): P[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value.map((item, index) => lower(item, [...path, index])) : [lower(value, path)];
}

/** Lowers one locator or a list of them. */
export const lowerLocators = (
  value: Locator | Locator[] | undefined,
  path: NodePath,
  report: ReportFault,
): LocatorPlan[] =>
  lowerEach(value, path, (locator, at) => lowerLocator(locator, at, report)).filter((plan) => plan !== null);
