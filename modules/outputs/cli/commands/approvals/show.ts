/** `hookwright approvals show <id>`: what would be sent, and where. */
import { unseenNote } from '../../../../../base/unseen.ts';
import { argument, command, flag } from '../../../../../cli/command-line/command.ts';
import { configOption } from '../../../../../cli/command-line/options.ts';
import { printBeside, printJson, printLine, visible } from '../../../../../cli/output/print.ts';
import { useStore } from '../../../../../cli/store/use-store.ts';
import { findApproval, receiverOf } from '../../../runtime/approvals.ts';
import { contentLines, found, senderText, stateText } from '../../approvals/words.ts';

export default command({
  summary: 'Show a message that waits for an approval: its whole text, and where it goes',
  examples: [['Before you answer', '$0 approvals show 0mb3k9x2c00a7f01c3b9d2e4']],
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
