/** A rule of docs/rules.md. */
import type { Rule } from '../../diagnostics/rule.ts';
import type { RuleGroupId } from './rule-groups.ts';

export interface ListedRule extends Rule {
  /** Where docs/rules.md explains it. */
  readonly group: RuleGroupId;
}
