/** `hookwright approvals list`: the messages that wait for a person. */
import { command } from '../../../../../cli/command-line/command.ts';
import { arrayOption, configOption } from '../../../../../cli/command-line/options.ts';
import { visible } from '../../../../../cli/output/print.ts';
import { printList } from '../../../../../cli/output/table.ts';
import { formatDuration } from '../../../../../cli/output/time.ts';
import { useStore } from '../../../../../cli/store/use-store.ts';
import { printableStart } from '../../../../../runtime/platform/printable.ts';
import { listApprovals, receiverOf } from '../../../runtime/approvals.ts';
import { senderText } from '../../approvals/words.ts';

/** Of a text, in UTF-16 units: `approvals show` has all of it. */
const SHOWN = 80;

export default command({
  summary: 'List the messages that wait for a person who approves them',
  examples: [
    ['What waits, the oldest first', '$0 approvals list'],
    ['For a program', '$0 approvals list --json'],
  ],
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
