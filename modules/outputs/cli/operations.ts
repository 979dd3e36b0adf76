/** The control operations of the module. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { ServedGateway } from '../../../cli/base/module.ts';
import type { ControlHandlers } from '../../../runtime/control/operations.ts';

export const outputOperations = ({ context, service }: ServedGateway<CliContext>): ControlHandlers => ({
  approvals_list: async () => (await approvals()).listApprovals(service.store),
  approvals_show: async ({ id }) => (await approvals()).findApproval(service.store, id),
  approvals_answer: async ({ id, ...answer }) => {
    const answered = await (await approvals()).answerApproval(service.store, id, answer, context.clock.now());
    service.changed();
    return answered;
  },
});

const approvals = () => import('../runtime/approvals.ts');
