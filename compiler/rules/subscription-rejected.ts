/** A subscription that a running gateway rejects (§2.7). */
import type { Problem } from '../diagnostics/problem.ts';
import { isError } from '../diagnostics/rule.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const subscriptionRejected = {
  id: 'subscription-rejected',
  /** Reports only errors: a gateway serves subscriptions with warnings. @param problem problem of the subscription */
  check(subscription: string, problem: Problem): readonly Problem[] {
    if (!isError(problem)) return [];
    const message = `the gateway rejects the subscription \`${subscription}\`: ${problem.message}`;
    return [{ ...problem, rule: 'subscription-rejected', message }];
  },
} as const satisfies ListedRule;
