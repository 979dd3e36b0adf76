/** Hands the compiler's view of subscriptions to the runtime, which may not import it. */
import { compileSubscriptions } from '../../compiler/compile-subscriptions.ts';
import type { MachineFacts } from '../../compiler/machine-facts.ts';
import type { LowerSubscriptions } from '../../runtime/table/subscriptions.ts';
import { describeProblem } from '../subscriptions/describe-problem.ts';

/** @param facts answers those of the moment; called once for each change of the file. */
export function createLowerSubscriptions(facts: () => MachineFacts): LowerSubscriptions {
  return (text, table) => {
    const compiled = compileSubscriptions(text, table, facts());
    if (compiled === null) throw new Error('the file is not a JSON object');
    const rejected = compiled.rejected.map((name) => {
      const problem = compiled.problems.find(
        ({ subscription, severity }) => subscription === name && severity === 'error',
      );
      return { name, reason: problem === undefined ? 'it has an error' : describeProblem(problem) };
    });
    return { routes: Object.values(compiled.routes), rejected };
  };
}
