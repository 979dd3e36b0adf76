/** `hookwright approvals`: lists, shows and answers messages that need approval. */

import { invisibleNote } from '../../../base/text.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { ambiguousName, CliError } from '../../../cli/base/errors.ts';
import { argument, command, flag, text } from '../../../cli/command-line/command.ts';
import { arrayOption, byOption, configOption } from '../../../cli/command-line/options.ts';
import { ownerText } from '../../../cli/deliveries/filter.ts';
import { tryCallGateway } from '../../../cli/gateway/ask-gateway.ts';
import { printBeside, printJson, printLine, visible } from '../../../cli/output/print.ts';
import { formatDuration, printList } from '../../../cli/output/table.ts';
import { personAt, useStore } from '../../../cli/store/use-store.ts';
import { printableStart } from '../../../runtime/platform/log.ts';
import type { AnsweredApproval, Approval, FoundApproval } from '../../../schemas/built/operations/types.ts';
import {
  answerApproval,
  findApproval,
  listApprovals,
  receiverOf,
  stateText,
  undoApproval,
} from '../runtime/approvals.ts';

/** Most UTF-16 units of a text in a list; `approvals show` prints the whole text. */
const SHOWN = 80;

/** `hookwright approvals list`: lists the pending messages. */
export const approvalsListCommand = command({
  options: { config: configOption, json: arrayOption },
  async run(context, given) {
    const now = context.clock.now();
    const waiting = (await useStore(context, (store) => listApprovals(store, now), given.config)) ?? [];
    printList(context, waiting, {
      json: given.json,
      toJson: (approval) => approval,
      columns: [
        { title: 'ID', value: ({ id }) => id, whole: true },
        { title: 'FROM', value: (approval) => visible(senderText(approval)), whole: true },
        { title: 'TO', value: (approval) => visible(receiverOf(approval)), whole: true },
        {
          title: 'LEFT',
          value: ({ state, expires_at }) => (state === 'waiting' ? formatDuration((expires_at ?? now) - now) : state),
          align: 'right',
        },
        { title: 'TEXT', value: ({ text }) => visible(printableStart(text, SHOWN)) },
      ],
      empty: 'no message waits for approval',
    });
  },
});

/** `hookwright approvals show <id>`: shows the message and its target. */
export const approvalsShowCommand = command({
  options: { config: configOption, json: flag('Print everything as one object') },
  args: { id: argument('id') },
  async run(context, given) {
    const now = context.clock.now();
    const result = await useStore(context, (store) => findApproval(store, given.id, now), given.config);
    const approval = checkFound(given.id, result);
    if (given.json) return printJson(context, approval);
    const left = (approval.answer?.takes_effect_at ?? 0) - now;
    const facts = [
      ['id', approval.id],
      ['state', stateText(approval)],
      ...(left > 0
        ? [['in effect', `in ${formatDuration(left)}; until then: hookwright approvals undo ${approval.id}`] as const]
        : []),
      ['from', senderText(approval)],
      ['event', approval.event],
      ['to', receiverOf(approval)],
      // The prefix keeps fields of the output apart from the facts above.
      ...contentLines(approval).map(([name, value]) => [`with ${name}`, value] as const),
    ] as const;
    for (const [name, value] of facts) printBeside(context, name.padEnd(12), visible(value));
    const note = invisibleNote([approval.text, ...contentLines(approval).map(([, value]) => value)].join('\n'));
    if (note !== null) printBeside(context, 'note'.padEnd(12), note);
    printLine(context, `\n${approval.text.split('\n').map(visible).join('\n')}`);
  },
});

const answerOptions = {
  reason: text('text', 'Reason, which is stored with the answer'),
  by: byOption,
  config: configOption,
};

/** `hookwright approvals approve <id>`: sends a pending message as shown. */
export const approvalsApproveCommand = command({
  options: answerOptions,
  args: { id: argument('id') },
  run: (context, given) => giveAnswer(context, given, true),
});

/** `hookwright approvals reject <id>`: rejects a pending message, which is then never sent. */
export const approvalsRejectCommand = command({
  options: answerOptions,
  args: { id: argument('id') },
  run: (context, given) => giveAnswer(context, given, false),
});

/** `hookwright approvals undo <id>`: withdraws an approval that has not taken effect. */
export const approvalsUndoCommand = command({
  options: { by: byOption, config: configOption },
  args: { id: argument('id') },
  async run(context, { id, config }) {
    const by = personAt(context);
    const undone =
      (await tryCallGateway(context, 'approvals_undo', { id, by })) ??
      (await useStore(context, (store) => undoApproval(store, id, by, context.clock.now()), config));
    const approval = checkFound(id, undone);
    if (undone?.kind === 'late') throw new CliError(`${id} can no longer be undone: ${stateText(approval)}`);
    printLine(context, `approval of ${id} withdrawn; ${stateText(approval)}`);
  },
});

interface AnswerInput {
  readonly id: string;
  readonly reason: string | undefined;
  readonly config: readonly string[] | undefined;
}

/** @throws CliError if it was already answered, with by whom, or if the target has changed since it was shown */
export async function giveAnswer(context: CliContext, given: AnswerInput, approve: boolean): Promise<void> {
  const of = { approve, by: personAt(context), reason: given.reason ?? null };
  // A running gateway can check whether the target has changed.
  const answered =
    (await tryCallGateway(context, 'approvals_answer', { id: given.id, ...of })) ??
    (await useStore(context, (store) => answerApproval(store, given.id, of, context.clock.now()), given.config));
  const approval = checkFound(given.id, answered);
  if (answered?.kind === 'late') throw new CliError(`${approval.id} was already ${stateText(approval)}`);
  const what = `${approval.id} ${approve ? 'approved' : 'rejected'}: ${visible(receiverOf(approval))}`;
  printLine(context, `${what}; hookwright deliveries show ${approval.id.split('-')[0]}`);
}

const LISTED_BY = 'hookwright approvals list';

/** @param answer null: there is no store @throws CliError for an unknown or ambiguous id */
export function checkFound(id: string, answer: FoundApproval | AnsweredApproval | null): Approval {
  if (answer !== null && 'approval' in answer) return answer.approval;
  if (answer?.kind === 'ambiguous') throw ambiguousName('approval', id, answer.ids, LISTED_BY);
  throw new CliError(
    `there is no approval "${id}"`,
    `to list pending ones (an id changes with the text, and an answer needs all of it): ${LISTED_BY}`,
  );
}

export const senderText = (approval: Approval): string =>
  approval.profile === 'default' ? ownerText(approval) : `${ownerText(approval)} (profile ${approval.profile})`;

/** The other fields of an output, as text. */
export const contentLines = ({ content }: Approval): readonly (readonly [string, string])[] =>
  Object.entries(content).map(([name, value]) => [
    name,
    Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(', ') : JSON.stringify(value),
  ]);
