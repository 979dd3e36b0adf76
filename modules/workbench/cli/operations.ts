/** The module's control operations. Their code is loaded with the first call, because it includes the compiler. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { ServedGateway } from '../../../cli/base/module.ts';
import type { HandlersOf } from '../../../runtime/control/operations.ts';

export const workbenchOperations = (gateway: ServedGateway<CliContext>): HandlersOf<'workbench'> => ({
  route_test: async (asked) => (await import('./test-event/sign-test-event.ts')).testRoute(gateway, asked),
  request_explain: async ({ id }) => (await shown()).explainCaptured(gateway, id),
  request_show: async ({ id }) => (await shown()).showCaptured(gateway, id),
  request_print: async ({ id, form }) => (await shown()).printCaptured(gateway, id, form),
});

const shown = () => import('./capture-tools.ts');
