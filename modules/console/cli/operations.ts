/** The control operations that the console's API calls. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { ServedGateway } from '../../../cli/base/module.ts';
import type { HandlersOf } from '../../../runtime/control/operations.ts';

export const consoleOperations = (gateway: ServedGateway<CliContext>): HandlersOf<'console'> => ({
  routes_list: async () => (await load()).reportRoutes(gateway),
  names_check: async (names) => (await load()).checkServedNames(gateway, names),
  jobs_list: async (query) => (await load()).reportJobs(gateway, query),
  job_show: async ({ id }) => (await load()).showJob(gateway, id),
  job_edit: async (change) => (await load()).changeJob(gateway, change),
  targets_list: async ({ profile }) => (await load()).listTargets(gateway, profile),
  job_run: async (job) => (await load()).runJob(gateway, job),
  deliveries_replay: async (request) => (await load()).replayDeliveries(gateway, request),
  configured_work: async (work) => (await load()).configuredWork(gateway, work),
  chats_list: async ({ profile }) => (await load()).listChats(gateway, profile),
});

/** Loaded on the first call, because it includes the compiler. */
const load = () => import('./console-operations.ts');
