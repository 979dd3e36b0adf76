/** Prints what a rule checks, for `rule <id>` and `explain <id>`. */
import { suggest } from '../../compiler/text/suggest.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { printJson, printLine } from '../output/print.ts';
import { readRules } from './pages.ts';

/** @throws CliError when there is no such rule */
export function showRule(context: CliContext, name: string, json: boolean): void {
  const rules = readRules();
  const text = rules.get(name);
  if (text === undefined) {
    const [close] = suggest(name, [...rules.keys()]);
    const next = close === undefined ? 'hookwright rule lists them' : `did you mean: hookwright rule ${close}`;
    throw new CliError(`there is no rule "${name}"`, next);
  }
  if (json) printJson(context, { name, text });
  else printLine(context, `${name}\n\n${text}`);
}
