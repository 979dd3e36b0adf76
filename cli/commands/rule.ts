/** `hookwright rule`: prints what a rule of the compiler checks, with a bad and a good example, from the shipped pages. */
import { Command, Option } from 'clipanion';
import type { CliContext } from '../base/context.ts';
import { readRules } from '../docs/pages.ts';
import { showRule } from '../docs/show-rule.ts';
import { printJson, printLine } from '../output/print.ts';

export class RuleCommand extends Command<CliContext> {
  static override paths = [['rule']];
  static override usage = Command.Usage({
    description: 'Explain a rule: why it is one, what breaks it, what does not',
    details: 'The name of a rule is in each line that `lint` prints. Without a name it lists them.',
    examples: [
      ['A rule that lint has named', '$0 rule unknown-key'],
      ['All of them', '$0 rule'],
    ],
  });

  json = Option.Boolean('--json', false, { description: 'Print JSON' });
  name = Option.String({ required: false, name: 'rule' });

  async execute(): Promise<number> {
    if (this.name === undefined) this.list([...readRules().keys()]);
    else showRule(this.context, this.name, this.json);
    return 0;
  }

  private list(names: readonly string[]): void {
    if (this.json)
      printJson(
        this.context,
        names.map((name) => ({ name })),
      );
    else for (const name of names) printLine(this.context, name);
  }
}
