/** The compiler's rules as data, from the YAML file of each: `compiler/rules/<id>.yaml`, and those of the modules. */
import type { RuleId } from './built/rules.ts';
import { RULE_DATA } from './built/rules.ts';
import type { RuleData, Severity } from './rule-data.ts';
import { RULE_GROUP_TITLES } from './rule-data.ts';

export type { RuleId, Severity };

/**
 * A rule of the compiler, with its texts.
 *
 * @example
 * ```ts
 * import type { Rule } from 'hookwright/compiler';
 *
 * const heading = ({ id, severity, title }: Rule): string => `${id} (${severity}): ${title}`;
 * ```
 */
export interface Rule extends RuleData {
  /** Kebab-case; also the name of the rule's file and of its section in docs/rules.md. */
  readonly id: RuleId;
}

/**
 * A group of rules: a chapter of docs/rules.md.
 *
 * @example
 * ```ts
 * import type { RuleGroup } from 'hookwright/compiler';
 *
 * const print = ({ title, rules }: RuleGroup): string => `${title}: ${rules.map(({ id }) => id).join(', ')}`;
 * ```
 */
export interface RuleGroup {
  /** The heading of the chapter. */
  readonly title: string;
  /** The rules of the group, sorted by id. */
  readonly rules: readonly Rule[];
}

export const ruleOf = (id: RuleId): RuleData => RULE_DATA[id];

/** Whether the rule rejects the config, the route or the job that it reports. */
export const isError = ({ rule }: { readonly rule: RuleId }): boolean => RULE_DATA[rule].severity === 'error';

/**
 * All rules, those of modules included, in the order of docs/rules.md: by group, then by id.
 *
 * @example
 * ```ts
 * import { RULES } from 'hookwright/compiler';
 *
 * console.log(RULES.filter(({ severity }) => severity === 'error').map(({ id }) => id));
 * ```
 */
export const RULES: readonly Rule[] = Object.entries(RULE_DATA).map(([id, data]) => ({ id: id as RuleId, ...data }));

/**
 * The rules by group, in the order of docs/rules.md.
 *
 * @example
 * ```ts
 * import { RULE_GROUPS } from 'hookwright/compiler';
 *
 * for (const { title, rules } of RULE_GROUPS) console.log(title, rules.length);
 * ```
 */
export const RULE_GROUPS: readonly RuleGroup[] = Object.entries(RULE_GROUP_TITLES).map(([id, title]) => ({
  title,
  rules: RULES.filter(({ group }) => group === id),
}));
