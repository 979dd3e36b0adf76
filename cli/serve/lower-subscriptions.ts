/** Checks and lowers the subscriptions of a running gateway; loaded with the compiler, once there are any. */
import { createMachineFacts } from '../../compiler/node/machine-facts.ts';
import { compileSubscriptions } from '../../compiler/stages/compile-subscriptions.ts';
import type { CompileSubscriptions } from '../../runtime/service/options.ts';
import type { CliContext } from '../base/context.ts';
import { loadRules } from '../compile/compiler-parts.ts';

/** Loads the rules of all modules. */
export async function subscriptionLowerer(context: CliContext): Promise<CompileSubscriptions> {
  const rules = await loadRules(context.modules);
  return (text, table, jobs) => compileSubscriptions(text, { table, facts: createMachineFacts(context, jobs), rules });
}
