/** Answers a message that waits, for `approvals approve` and `approvals reject`. */
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { tryAskGateway } from '../../../../cli/gateway/ask-gateway.ts';
import { printLine, visible } from '../../../../cli/output/print.ts';
import { useStore } from '../../../../cli/store/use-store.ts';
import { answerApproval, receiverOf } from '../../runtime/approvals.ts';
import { found, stateText } from './words.ts';

interface Given {
  readonly id: string;
  readonly reason: string | undefined;
  readonly config: readonly string[] | undefined;
}

/** @throws CliError when somebody was first, with who that was, or when it would not go where it was shown to go */
export async function giveAnswer(context: CliContext, given: Given, approve: boolean): Promise<void> {
  const { SUDO_USER, USER, LOGNAME } = context.env;
  const by = SUDO_USER ?? USER ?? LOGNAME ?? 'somebody at the command line';
  const of = { approve, by, reason: given.reason ?? null };
  // A running gateway knows where its targets send by now.
  const answered =
    (await tryAskGateway(context, 'approvals_answer', { id: given.id, ...of })) ??
    (await useStore(context, (store) => answerApproval(store, given.id, of, context.clock.now()), given.config));
  const approval = found(given.id, answered);
  if (answered?.kind === 'late') throw new CliError(`${approval.id} is not answered: it is ${stateText(approval)}`);
  const what = `${approval.id} is ${approve ? 'approved' : 'rejected'}: ${visible(receiverOf(approval))}`;
  printLine(context, `${what}; hookwright deliveries show ${approval.id.split('-')[0]}`);
}
