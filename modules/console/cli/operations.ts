/** The control operations of the module: what its API calls. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { ServedGateway } from '../../../cli/base/module.ts';
import type { ControlHandlers } from '../../../runtime/control/operations.ts';

export const consoleOperations = (gateway: ServedGateway<CliContext>): ControlHandlers => ({
  routes_list: async () => (await load()).reportRoutes(gateway),
  names_check: async (names) => (await load()).checkServedNames(gateway, names),
  jobs_list: async (asked) => (await load()).reportJobs(gateway, asked),
  job_run: async (asked) => (await load()).runJob(gateway, asked),
  deliveries_replay: async (asked) => (await load()).replayDeliveries(gateway, asked),
  chats_list: async ({ profile }) => (await load()).listChats(gateway, profile),
});

/** Loaded with the first that is called: the compiler is part of it. */
const load = () => import('./console-operations.ts');
