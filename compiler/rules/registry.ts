/** Collects the rules of the compiler and its modules. */
import { RULES } from '../diagnostics/rule.ts';
import type { ViewRule } from '../views/views.ts';
import { RULE_FILES } from './built/rule-files.ts';

const ORDER = new Map(RULES.map(({ id }, index) => [id, index]));

/** The rules of the compiler and of these modules, in the order of docs/rules.md. */
export const rulesInForce = (modules: readonly { readonly rules?: readonly ViewRule[] }[]): readonly ViewRule[] =>
  [...RULE_FILES, ...modules.flatMap(({ rules = [] }) => rules)].sort(
    (a, b) => (ORDER.get(a.id) ?? 0) - (ORDER.get(b.id) ?? 0),
  );
