/** `hookwright completion`: the script that teaches a shell to complete hookwright's commands. */
import { argument, command } from '../../../cli/command-line/command.ts';
import { parseChoice } from '../../../cli/command-line/values.ts';
import { SCRIPTS, SHELLS } from './completion/scripts.ts';

export const completionCommand = command({
  summary: 'Print the completion script for bash, zsh or fish',
  details:
    'The script asks hookwright itself for each completion, so it also knows your routes, profiles and subscriptions.',
  examples: [
    ['bash, in ~/.bashrc', 'source <($0 completion bash)'],
    ['zsh, in ~/.zshrc after compinit', 'source <($0 completion zsh)'],
    ['fish', '$0 completion fish > ~/.config/fish/completions/hookwright.fish'],
  ],
  args: { shell: argument(SHELLS.join('|')) },
  async run(context, given) {
    context.stdout.write(SCRIPTS[parseChoice(given.shell, 'completion', SHELLS)]);
  },
});
