/** `hookwright complete`: what the completion scripts call; one candidate a line, with its description after a tab. */
import { command, restArguments } from '../../../cli/command-line/command.ts';
import { commandsOf } from '../../../cli/commands.ts';
import { visible } from '../../../cli/output/print.ts';
import { complete } from './completion/complete.ts';

export const completeCommand = command({
  summary: 'Print what may follow the given words, for completion scripts',
  examples: [['The commands that begin with "web"', '$0 complete -- web']],
  args: { words: restArguments('') },
  async run(context, given) {
    const completion = await complete(given.words, commandsOf(context.modules), context);
    if (completion.kind === 'files') context.stdout.write(':files\n');
    else {
      for (const { value, description } of completion.words) {
        context.stdout.write(`${visible(value)}\t${visible(description)}\n`);
      }
    }
  },
});
