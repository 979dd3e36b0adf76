/** Options that several nouns share, each with one name, one meaning and one description. */
import { FAIL_ON } from '../../runtime/control/operations.ts';
import type { Option } from '../base/command.ts';
import { UsageError } from '../base/errors.ts';
import { CONFIGS, choice, flag, list, parsed, text, toggle, withDefault } from './command.ts';
import { parseChoice, parseDuration, parseList, parsePort } from './values.ts';

export const configOption = list(CONFIGS, 'Configuration files; repeatable');

export const outOption = text('dir', 'Folder for the compiled tables');

export const byOption = text('name', 'Who does this, for the record; default: the user of this command');

export const jsonOption = flag('Print JSON');

/** For commands that print lists. */
export const arrayOption = flag('Print a JSON array');

/** @param formats the first is the default, for people @param what is printed */
export const formatOption = <Format extends string>(formats: readonly [Format, ...Format[]], what: string) =>
  withDefault(formats[0], choice(formats, `Format of ${what}`));

export const hostOption = text('host', 'Bind address; overrides the configuration');

export const portOption = parsed('port', 'Port; overrides the configuration; 0 is any free port', parsePort);

/** @param what describes the effect */
export const failOnOption = (what: string): Option<readonly (typeof FAIL_ON)[number][] | undefined> =>
  parsed(`${FAIL_ON.join(',')}|none`, what, (given, option) => {
    const named = parseList(given).map((each) => parseChoice(each, option, [...FAIL_ON, 'none']));
    return FAIL_ON.filter((each) => named.includes(each));
  });

/** For a background process, whose parent redirects its output to this file. */
export const logFileOption = text('path', 'File that the output of this process goes to, as shown by `gateway status`');

export const noLastGoodOption = flag('Refuse a configuration with errors, instead of serving the last good one');

export const descriptionOption = text('text', 'Its purpose');

export const budgetOption = text(
  'yaml',
  "Budget of runs, tokens or cost, such as '{runs: 20, per: day}'; empty for none",
);

export const chatIdOption = text('id', 'Chat or channel id');

export const approveOption = toggle('Hold each message until a person approves it (hookwright approvals)');

/** Filters deliveries or requests. */
export const routeFilterOption = text('name', 'Only this route');

/** How long a pause lasts, in ms. */
export const pauseOption = parsed('time', 'Resume after this time: 30m, 1h, 2d', (given, option) => {
  const ms = parseDuration(given, option);
  if (ms < 1000) throw new UsageError(`${option} must be at least one second, not "${given}"`);
  return ms;
});
