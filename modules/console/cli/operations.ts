/** The control operations of the module: what its API calls. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { ServedGateway } from '../../../cli/base/module.ts';
import type { ControlHandlers } from '../../../runtime/control/operations.ts';

export const consoleOperations = (gateway: ServedGateway<CliContext>): ControlHandlers => ({
  routes_list: async () => (await reports()).reportRoutes(gateway),
  names_check: async (names) => (await reports()).checkServedNames(gateway, names),
  jobs_list: async (asked) => (await reports()).reportJobs(gateway, asked),
  job_run: async (asked) => (await changes()).runJob(gateway, asked),
  deliveries_replay: async (asked) => (await changes()).replayDeliveries(gateway, asked),
  chats_list: async ({ profile }) => (await changes()).listChats(gateway, profile),
});

/** Loaded with the first that is called: the compiler is part of it. */
const changes = () => import('./console-operations.ts');

const reports = () => import('./console-operations.ts');
