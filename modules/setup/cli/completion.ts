/** `hookwright completion`: the script that teaches a shell to complete hookwright's commands. */
import { argument, command } from '../../../cli/command-line/command.ts';
import { parseChoice } from '../../../cli/command-line/values.ts';
import { commandsOf } from '../../../cli/commands.ts';
import { completionScript, SHELLS } from './completion/scripts.ts';

export const completionCommand = command({
  summary: 'Print the completion script for bash, zsh or fish',
  details: 'The script completes commands and their options. Load it again after an upgrade.',
  examples: [
    ['bash, in ~/.bashrc', 'source <($0 completion bash)'],
    ['zsh, in ~/.zshrc after compinit', 'source <($0 completion zsh)'],
    ['fish', '$0 completion fish > ~/.config/fish/completions/hookwright.fish'],
  ],
  args: { shell: argument(SHELLS.join('|')) },
  async run(context, given) {
    const shell = parseChoice(given.shell, 'completion', SHELLS);
    context.stdout.write(await completionScript(shell, commandsOf(context.modules)));
  },
});
