/** The control operations for approvals. */
import type { CliContext } from '../../../cli/base/context.ts';
import type { ServedGateway } from '../../../cli/base/module.ts';
import { refusing } from '../../../cli/serve/reloader.ts';
import type { HandlersOf } from '../../../runtime/control/operations.ts';

export const outputOperations = ({ context, service }: ServedGateway<CliContext>): HandlersOf<'outputs'> => ({
  approvals_list: async () => (await approvals()).listApprovals(service.store),
  approvals_show: async ({ id }) => (await approvals()).findApproval(service.store, id, context.clock.now()),
  approvals_undo: async ({ id, by }) => {
    const { undoApproval } = await approvals();
    const undone = await refusing(() => undoApproval(service.store, id, by, context.clock.now()));
    service.changed();
    return undone;
  },
  approvals_answer: async ({ id, ...answer }) => {
    const { answerApproval } = await approvals();
    const now = context.clock.now();
    const answered = await refusing(() => answerApproval(service.store, id, answer, now, service.place));
    service.changed();
    return answered;
  },
});

const approvals = () => import('../runtime/approvals.ts');
