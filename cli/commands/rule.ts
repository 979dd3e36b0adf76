/** `hookwright rule`: prints what a rule of the compiler checks, with a bad and a good example, from the shipped pages. */
import type { CliContext } from '../base/context.ts';
import type { GivenBy } from '../command-line/command.ts';
import { command, flag, optionalArgument } from '../command-line/command.ts';
import { readRules, showRule } from '../docs/pages.ts';
import { printJson, printLine } from '../output/print.ts';

const options = { json: flag('Print JSON') };

type Given = GivenBy<typeof options>;

export default command({
  summary: 'Explain a rule: why it is one, what breaks it, what does not',
  details: 'The name of a rule is in each line that `lint` prints. Without a name it lists them.',
  examples: [
    ['A rule that lint has named', '$0 rule unknown-key'],
    ['All of them', '$0 rule'],
  ],
  options,
  args: { name: optionalArgument('rule') },
  async run(context, given) {
    if (given.name === undefined) list(context, given, [...readRules().keys()]);
    else showRule(context, given.name, given.json);
  },
});

function list(context: CliContext, given: Given, names: readonly string[]): void {
  if (given.json)
    printJson(
      context,
      names.map((name) => ({ name })),
    );
  else for (const name of names) printLine(context, name);
}
