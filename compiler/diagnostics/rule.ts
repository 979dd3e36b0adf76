/** The compiler's rules as data, from the YAML file of each: `compiler/rules/<id>.yaml`, and those of the modules. */
import type { RuleId } from './built/rules.ts';
import { RULE_DATA } from './built/rules.ts';
import type { RuleData, Severity } from './rule-data.ts';
import { RULE_GROUP_TITLES } from './rule-data.ts';

export type { RuleId, Severity };

export interface Rule extends RuleData {
  /** Kebab-case; also the name of the rule's file and of its section in docs/rules.md. */
  readonly id: RuleId;
}

export interface RuleGroup {
  readonly title: string;
  readonly rules: readonly Rule[];
}

/** The data of a rule. */
export const ruleOf = (id: RuleId): RuleData => RULE_DATA[id];

/** Whether the rule rejects the config, the route or the job that it reports. */
export const isError = ({ rule }: { readonly rule: RuleId }): boolean => RULE_DATA[rule].severity === 'error';

/** All rules, those of modules included, in the order of docs/rules.md: by group, then by id. */
export const RULES: readonly Rule[] = Object.entries(RULE_DATA).map(([id, data]) => ({ id: id as RuleId, ...data }));

export const RULE_GROUPS: readonly RuleGroup[] = Object.entries(RULE_GROUP_TITLES).map(([id, title]) => ({
  title,
  rules: RULES.filter(({ group }) => group === id),
}));
