/** `hookwright approvals`: messages that a person has to approve. */

import { unseenNote } from '../../../base/text.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { ambiguousName, CliError } from '../../../cli/base/errors.ts';
import { argument, command, flag, text } from '../../../cli/command-line/command.ts';
import { arrayOption, configOption } from '../../../cli/command-line/options.ts';
import { ownerText } from '../../../cli/deliveries/filter.ts';
import { tryAskGateway } from '../../../cli/gateway/ask-gateway.ts';
import { printBeside, printJson, printLine, visible } from '../../../cli/output/print.ts';
import { formatDuration, printList } from '../../../cli/output/table.ts';
import { useStore } from '../../../cli/store/use-store.ts';
import { printableStart } from '../../../runtime/platform/log.ts';
import type { AnsweredApproval, Approval, FoundApproval } from '../../../schemas/built/operations/types.ts';
import { answerApproval, findApproval, listApprovals, receiverOf } from '../runtime/approvals.ts';

/** Of a text, in UTF-16 units: `approvals show` has all of it. */
const SHOWN = 80;

/** `hookwright approvals list`: the messages that wait for a person. */
export const approvalsListCommand = command({
  options: { config: configOption, json: arrayOption },
  async run(context, given) {
    const now = context.clock.now();
    const waiting = (await useStore(context, listApprovals, given.config)) ?? [];
    printList(context, waiting, {
      json: given.json,
      toJson: (approval) => approval,
      columns: [
        { title: 'ID', value: ({ id }) => id, whole: true },
        { title: 'FROM', value: (approval) => visible(senderText(approval)), whole: true },
        { title: 'TO', value: (approval) => visible(receiverOf(approval)), whole: true },
        {
          title: 'LEFT',
          value: ({ expires_at }) => formatDuration(Math.max(0, (expires_at ?? now) - now)),
          align: 'right',
        },
        { title: 'TEXT', value: ({ text }) => visible(printableStart(text, SHOWN)) },
      ],
      empty: 'nothing waits for an approval',
    });
  },
});

/** `hookwright approvals show <id>`: what would be sent, and where. */
export const approvalsShowCommand = command({
  options: { config: configOption, json: flag('Print everything as one object') },
  args: { id: argument('id') },
  async run(context, given) {
    const approval = found(given.id, await useStore(context, (store) => findApproval(store, given.id), given.config));
    if (given.json) return printJson(context, approval);
    const facts = [
      ['id', approval.id],
      ['state', stateText(approval)],
      ['from', senderText(approval)],
      ['event', approval.event],
      ['to', receiverOf(approval)],
      // Apart from what is said of the message itself.
      ...contentLines(approval).map(([name, value]) => [`with ${name}`, value] as const),
    ] as const;
    for (const [name, value] of facts) printBeside(context, name.padEnd(12), visible(value));
    const note = unseenNote([approval.text, ...contentLines(approval).map(([, value]) => value)].join('\n'));
    if (note !== null) printBeside(context, 'note'.padEnd(12), note);
    printLine(context, `\n${approval.text.split('\n').map(visible).join('\n')}`);
  },
});

/** `hookwright approvals approve <id>`: sends a message that waits, as it is shown. */
export const approvalsApproveCommand = command({
  options: { reason: text('text', 'Why; it is kept with the answer'), config: configOption },
  args: { id: argument('id') },
  run: (context, given) => giveAnswer(context, given, true),
});

/** `hookwright approvals reject <id>`: a message that waits is never sent. */
export const approvalsRejectCommand = command({
  options: { reason: text('text', 'Why; it is kept with the answer'), config: configOption },
  args: { id: argument('id') },
  run: (context, given) => giveAnswer(context, given, false),
});

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

const LISTED_BY = 'hookwright approvals list';

/** @param answer null: nothing is stored @throws CliError if none or several are meant */
export function found(id: string, answer: FoundApproval | AnsweredApproval | null): Approval {
  if (answer !== null && 'approval' in answer) return answer.approval;
  if (answer?.kind === 'ambiguous') throw ambiguousName('approval', id, answer.ids, LISTED_BY);
  throw new CliError(`there is no approval "${id}"`, `${LISTED_BY} shows what waits; another text has another id`);
}

export const senderText = (approval: Approval): string =>
  approval.profile === 'default' ? ownerText(approval) : `${ownerText(approval)} (profile ${approval.profile})`;

/** The further fields of an output. */
export const contentLines = ({ content }: Approval): readonly (readonly [string, string])[] =>
  Object.entries(content).map(([name, value]) => [
    name,
    Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(', ') : JSON.stringify(value),
  ]);

export function stateText({ state, expires_at, answer }: Approval): string {
  if (state === 'waiting') return expires_at === null ? state : `waiting until ${new Date(expires_at).toISOString()}`;
  if (answer === null) return 'expired: nobody has answered in time';
  const { by, at, reason } = answer;
  return `${state} by ${by} at ${new Date(at).toISOString()}${reason === null ? '' : `: ${reason}`}`;
}
