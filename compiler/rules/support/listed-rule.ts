/** A rule that a stage calls. */
import type { RuleId } from '../../diagnostics/rule.ts';

export interface ListedRule {
  readonly id: RuleId;
  check?(...args: never[]): unknown;
}
