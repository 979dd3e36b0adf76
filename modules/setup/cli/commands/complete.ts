/** `hookwright complete`: what the completion scripts call; one candidate a line, with its description after a tab. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../../../cli/base/context.ts';
import { commandsOf } from '../../../../cli/commands/registry.ts';
import { visible } from '../../../../cli/output/print.ts';
import { complete } from '../completion/complete.ts';

export class CompleteCommand extends Command<CliContext> {
  static override paths = [['complete']];
  static override usage = Command.Usage({
    description: 'Print what may follow the given words, for completion scripts',
    examples: [['The commands that begin with "web"', '$0 complete -- web']],
  });

  words = Option.Rest();

  async execute(): Promise<number> {
    const completion = await complete(this.words, commandsOf(this.context.modules), this.context);
    if (completion.kind === 'files') this.context.stdout.write(':files\n');
    else {
      for (const { value, description } of completion.words) {
        this.context.stdout.write(`${visible(value)}\t${visible(description)}\n`);
      }
    }
    return 0;
  }
}
