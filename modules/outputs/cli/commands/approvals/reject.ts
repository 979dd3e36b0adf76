/** `hookwright approvals reject <id>`: a message that waits is never sent. */
import { argument, command, text } from '../../../../../cli/command-line/command.ts';
import { configOption } from '../../../../../cli/command-line/options.ts';
import { giveAnswer } from '../../approvals/answer.ts';

export default command({
  summary: 'Reject a message: it is not sent',
  details:
    'The first answer counts. The delivery is skipped, with the reason `not_approved` and yours; unless another of its targets has failed.',
  examples: [
    ['Not this one', '$0 approvals reject 0mb3k9x2c00a7f01c3b9d2e4'],
    ['With the reason', "$0 approvals reject 0mb3k9x2c00a7f01c3b9d2e4 --reason 'it names a customer'"],
  ],
  options: { reason: text('text', 'Why; it is kept with the answer'), config: configOption },
  args: { id: argument('id') },
  run: (context, given) => giveAnswer(context, given, false),
});
