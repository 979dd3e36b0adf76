/** A configuration under test: compiled once; its routes are linked on first use. */
import type { CliContext } from '../../../../cli/base/context.ts';
import type { RunScript } from '../../../../runtime/intake/script-runner.ts';
import type { RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import type { Explainer } from '../../runtime/explain/create-explainer.ts';
import { fixedWorld } from '../../runtime/explain/create-explainer.ts';
import { createMachineExplainer, scriptRunner } from '../explain/machine-services.ts';
import { openConfig } from '../explain/open-config.ts';

export interface TestedConfig extends Explainer {
  /** Absolute paths it depends on. */
  readonly inputs: readonly string[];
  readonly plan: (route: string) => RoutePlan | null;
  readonly runScript: () => Promise<RunScript>;
}

/** Does not use secrets, the store or the network. @throws CliError when it does not compile */
export async function openTested(context: CliContext, configs: readonly string[] | undefined): Promise<TestedConfig> {
  const { table, files } = await openConfig(context, configs);
  return testedTable(context, table, files);
}

/** The same for a table that has been compiled. @param inputs see `TestedConfig` */
export function testedTable(context: CliContext, table: RouteTable, inputs: readonly string[]): TestedConfig {
  let scripts: Promise<RunScript> | null = null;
  return {
    ...createMachineExplainer(context, table, fixedWorld(table)),
    inputs,
    plan: (route) => Object.values(table.routes).find(({ name }) => name === route) ?? null,
    runScript() {
      scripts ??= scriptRunner(context, table, inputs);
      return scripts;
    },
  };
}
