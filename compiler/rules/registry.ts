/** All rules of the compiler, in the order of docs/rules.md: by group, then by id. */

import { RULE_FILES as PAYLOAD_RULES } from '../../modules/payloads/compiler/rules/built/rule-files.ts';
import { RULE_FILES } from './built/rule-files.ts';
import type { RuleGroupId } from './support/rule-groups.ts';
import { RULE_GROUP_TITLES } from './support/rule-groups.ts';
import type { ViewRule } from './support/view-rule.ts';

export interface RuleGroup {
  readonly title: string;
  readonly rules: readonly ViewRule[];
}

const rules: readonly ViewRule[] = [...RULE_FILES, ...PAYLOAD_RULES].sort((a, b) => (a.id < b.id ? -1 : 1));
const groupIds = Object.keys(RULE_GROUP_TITLES) as readonly RuleGroupId[];

export const RULE_GROUPS: readonly RuleGroup[] = groupIds.map((id) => ({
  title: RULE_GROUP_TITLES[id],
  rules: rules.filter(({ group }) => group === id),
}));

export const RULES: readonly ViewRule[] = Object.freeze(RULE_GROUPS.flatMap((group) => group.rules));
