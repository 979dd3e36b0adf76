/** `hookwright approvals approve <id>`: sends a message that waits, as it is shown. */
import { argument, command, text } from '../../../../../cli/command-line/command.ts';
import { configOption } from '../../../../../cli/command-line/options.ts';
import { giveAnswer } from '../../approvals/answer.ts';

export default command({
  summary: 'Approve a message: it is sent as it is shown',
  details: 'The first answer counts. A running gateway sends it at once; without one it waits for the next start.',
  examples: [['After `approvals show`', '$0 approvals approve 0mb3k9x2c00a7f01c3b9d2e4']],
  options: { reason: text('text', 'Why; it is kept with the answer'), config: configOption },
  args: { id: argument('id') },
  run: (context, given) => giveAnswer(context, given, true),
});
