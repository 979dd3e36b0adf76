/** Options that several nouns have, each with one name, one meaning and one description. */
import { FAIL_ON } from '../../runtime/control/operations.ts';
import type { Option } from '../base/command.ts';
import { UsageError } from '../base/errors.ts';
import { choice, flag, list, parsed, text, toggle, withDefault } from './command.ts';
import { parseChoice, parseDuration, parseList, parsePort } from './values.ts';

export const configOption = list('path|glob', 'Configuration instead of the usual search; repeatable');

export const outOption = text('dir', 'Where to write the tables');

export const jsonOption = flag('Print JSON');

/** For commands that print lists. */
export const arrayOption = flag('Print an array of objects');

/** @param formats the first is for people, and the default @param what it prints */
export const formatOption = <Format extends string>(formats: readonly [Format, ...Format[]], what: string) =>
  withDefault(formats[0], choice(formats, `How to print ${what}`));

export const hostOption = text('host', 'Bind address instead of the configured one');

export const portOption = parsed('port', 'Port instead of the configured one; 0 takes a free one', parsePort);

/** @param what happens when any are found */
export const failOnOption = (what: string): Option<readonly (typeof FAIL_ON)[number][] | undefined> =>
  parsed(`${FAIL_ON.join(',')}|none`, what, (given, option) => {
    const named = parseList(given).map((each) => parseChoice(each, option, [...FAIL_ON, 'none']));
    return FAIL_ON.filter((each) => named.includes(each));
  });

/** For a background process, whose parent redirects its output to this file. */
export const logFileOption = text('path', 'Where the output of this process goes, for `gateway status`');

export const descriptionOption = text('text', 'What it is for');

export const budgetOption = text('yaml', "Most runs, tokens and cost, such as '{runs: 20, per: day}'; empty for none");

export const chatIdOption = text('id', 'Chat or channel; may be negative');

export const approveOption = toggle('What is delivered waits until a person approves it: hookwright approvals');

/** Which deliveries or requests are meant. */
export const routeFilterOption = text('name', 'Only this route');

/** For how many ms something is paused. */
export const pauseOption = parsed('time', 'End the pause after this time: 30m, 1h, 2d', (given, option) => {
  const ms = parseDuration(given, option);
  if (ms < 1000) throw new UsageError(`${option} takes a time of at least a second, not "${given}"`);
  return ms;
});
