/** Lowers `outputs` of a route or a job: a delivery for each, and what limits it. */
import type { OutputPlan, OutputsConfig } from '../../schemas/generated/types.ts';
import { deliveryOf, outputPath } from '../config/outputs.ts';
import type { TableContent } from '../config/table-content.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';
import { lowerDeliver } from './delivery.ts';

/**
 * Left out where there are none. Unknown targets are omitted; the rule `unknown-target` reports them.
 * @param words as of `lowerDeliveries`
 */
export function lowerOutputs(
  outputs: OutputsConfig | undefined,
  table: Pick<TableContent, 'targets' | 'target_names' | 'gateway'>,
  words: readonly string[] = [],
): Lowered<{ outputs?: OutputPlan[] }> {
  const problems: Problem[] = [];
  const plans = Object.entries(outputs ?? {}).flatMap(([name, output]): OutputPlan[] => {
    const lowered = lowerDeliver({ ...deliveryOf(output), approve: output.approve }, table, words);
    problems.push(...lowered.problems.map((problem) => ({ ...problem, path: outputPath(name, problem.path) })));
    const allowed = Object.entries(output.allow ?? {}).map(([field, values]) => [field, values.map(String)]);
    const allow = Object.fromEntries(allowed) as OutputPlan['allow'];
    return (lowered.plan ?? []).map((delivery) => ({ name, delivery, allow, max: output.max ?? 1 }));
  });
  return { plan: plans.length === 0 ? {} : { outputs: plans }, problems };
}
