/** `hookwright completion`: the script that teaches a shell to complete hookwright's commands. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../../../cli/base/context.ts';
import { parseChoice, parsedBy } from '../../../../cli/command-line/values.ts';
import { SCRIPTS, SHELLS } from '../completion/scripts.ts';

export class CompletionCommand extends Command<CliContext> {
  static override paths = [['completion']];
  static override usage = Command.Usage({
    description: 'Print the completion script for bash, zsh or fish',
    details:
      'The script asks hookwright itself for each completion, so it also knows your routes, profiles and subscriptions.',
    examples: [
      ['bash, in ~/.bashrc', 'source <($0 completion bash)'],
      ['zsh, in ~/.zshrc after compinit', 'source <($0 completion zsh)'],
      ['fish', '$0 completion fish > ~/.config/fish/completions/hookwright.fish'],
    ],
  });

  shell = Option.String({
    name: SHELLS.join('|'),
    validator: parsedBy<(typeof SHELLS)[number]>('completion', (text, option) => parseChoice(text, option, SHELLS)),
  });

  async execute(): Promise<number> {
    this.context.stdout.write(SCRIPTS[this.shell]);
    return 0;
  }
}
