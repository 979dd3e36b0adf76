/** A rule that is listed in docs/rules.md. */
import type { Rule } from '../../diagnostics/rule.ts';
import type { RuleGroupId } from './rule-groups.ts';

export interface ListedRule extends Rule {
  /** The section of docs/rules.md. */
  readonly group: RuleGroupId;
}
