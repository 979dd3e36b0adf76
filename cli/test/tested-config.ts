/** A configuration under test: compiled once, its routes linked when the first test asks for them. */

import { createDryDispatcher } from '../../runtime/explain/dry-dispatcher.ts';
import type { ExplainContext } from '../../runtime/explain/explain-request.ts';
import type { ExplainedRoute } from '../../runtime/explain/link-explained.ts';
import { linkExplained } from '../../runtime/explain/link-explained.ts';
import { Warnings } from '../../runtime/explain/warnings.ts';
import type { RunScript } from '../../runtime/intake/script-runner.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { nodeFiles } from '../../runtime/platform/node-files.ts';
import { userHome } from '../../runtime/platform/secrets/machine-secrets.ts';
import type { RoutePlan, RouteTable } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { deliveryRefusal } from '../explain/delivery-refusal.ts';
import { configuredJobState } from '../explain/job-state.ts';
import { listFiles } from '../explain/list-files.ts';
import { openConfig } from '../explain/open-config.ts';
import { scriptRunner } from '../explain/script-runner.ts';

export interface TestedConfig {
  readonly table: RouteTable;
  /** Absolute paths it depends on. */
  readonly inputs: readonly string[];
  readonly plan: (route: string) => RoutePlan | null;
  readonly linked: (plan: RoutePlan) => ExplainedRoute;
  readonly explaining: ExplainContext;
  readonly runScript: () => Promise<RunScript>;
}

/** Tests know no time: every event comes at this instant (Unix ms). */
const INSTANT = Date.UTC(2026, 0, 1);
/** Stands where a delivery id would be made up. */
const NO_ID = 'test';
/** Stands in the markers of untrusted text. */
const NO_MARKER = '000000000000';

/** Secrets, the store and the network are left alone. @throws CliError when it does not compile */
export async function openTested(context: CliContext, configs: readonly string[] | undefined): Promise<TestedConfig> {
  const { table, files: inputs } = await openConfig(context, configs);
  const linked = new Map<RoutePlan, ExplainedRoute>();
  const clock = { ...systemClock, now: () => INSTANT, monotonic: () => 0 };
  const linking = {
    ...{ home: context.home, userHome: userHome(context.env), files: listFiles(nodeFiles), secrets: null, clock },
    warnings: new Warnings(),
  };
  let scripts: Promise<RunScript> | null = null;
  return {
    table,
    inputs,
    plan: (route) => Object.values(table.routes).find(({ name }) => name === route) ?? null,
    linked(plan) {
      const known = linked.get(plan) ?? linkExplained(plan, table, linking);
      linked.set(plan, known);
      return known;
    },
    explaining: {
      clock,
      ids: { dispatch: () => NO_ID, delivery: () => NO_ID, marker: () => NO_MARKER },
      dispatcher: createDryDispatcher({
        refusal: deliveryRefusal(context, table, NO_SECRETS),
        jobState: (profile, id) => configuredJobState(table, profile, id),
      }),
    },
    runScript() {
      scripts ??= scriptRunner(context);
      return scripts;
    },
  };
}

const NO_SECRETS = {
  resolve: (): string => {
    throw new Error('tests read no secrets');
  },
};
