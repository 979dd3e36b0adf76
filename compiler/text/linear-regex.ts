/** Expressions of RE2, which match in linear time. Many routes have the same ones, so those used last are kept. */
import { RE2JS } from 're2js';

/** Larger than the number of expressions that a configuration of usual size has. */
const KEPT = 1000;

const kept = new Map<string, RE2JS>();

/** @throws RE2JSSyntaxException if RE2 does not support the expression */
export function linearRegex(source: string): RE2JS {
  const known = kept.get(source);
  if (known !== undefined) return known;
  const regex = RE2JS.compile(source);
  if (kept.size === KEPT) kept.clear();
  kept.set(source, regex);
  return regex;
}
