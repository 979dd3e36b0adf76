/** `hookwright rule`: what a rule of the compiler checks, with a bad and a good example, from the pages that come with it. */
import { Command, Option } from 'clipanion';
import { suggest } from '../../compiler/text/suggest.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { readRules } from '../docs/pages.ts';
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
    const rules = readRules();
    if (this.name === undefined) this.list([...rules.keys()]);
    else this.show(this.name, rules);
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

  private show(name: string, rules: ReadonlyMap<string, string>): void {
    const text = rules.get(name);
    if (text === undefined) {
      const [close] = suggest(name, [...rules.keys()]);
      const next = close === undefined ? 'hookwright rule lists them' : `did you mean: hookwright rule ${close}`;
      throw new CliError(`there is no rule "${name}"`, next);
    }
    if (this.json) printJson(this.context, { name, text });
    else printLine(this.context, `${name}\n\n${text}`);
  }
}
