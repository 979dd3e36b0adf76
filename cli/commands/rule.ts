/** `hookwright rule`: prints what a rule of the compiler checks, with a bad and a good example, from the shipped pages. */
import { command, flag, optionalArgument } from '../command-line/command.ts';
import { readRules, showRule } from '../docs/pages.ts';
import { printJson, printLine } from '../output/print.ts';

export default command({
  summary: 'Explain a rule: why it is one, what breaks it, what does not',
  details: 'The name of a rule is in each line that `lint` prints. Without a name it lists them.',
  examples: [
    ['A rule that lint has named', '$0 rule unknown-key'],
    ['All of them', '$0 rule'],
  ],
  options: { json: flag('Print JSON') },
  args: { name: optionalArgument('rule') },
  async run(context, given) {
    const names = [...readRules().keys()].map((name) => ({ name }));
    if (given.name !== undefined) showRule(context, given.name, given.json);
    else if (given.json) printJson(context, names);
    else for (const { name } of names) printLine(context, name);
  },
});
