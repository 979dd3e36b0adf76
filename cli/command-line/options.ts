/** Options that several commands have, each with one name, one meaning and one description. */
import { Option } from 'clipanion';
import { FAIL_ON } from '../../runtime/control/operations.ts';
import { parseChoice, parsedBy, parseList, parsePort } from './values.ts';

export const configOption = () =>
  Option.Array('--config', { description: '<path|glob> Configuration instead of the usual search; repeatable' });

export const outOption = () => Option.String('--out', { description: '<dir> Where to write the tables' });

export const jsonOption = () => Option.Boolean('--json', false, { description: 'Print JSON' });

/** For commands that print lists. */
export const arrayOption = () => Option.Boolean('--json', false, { description: 'Print an array of objects' });

/** @param formats the first is for people, and the default @param what it prints */
export const formatOption = <Format extends string>(formats: readonly [Format, ...Format[]], what: string) =>
  Option.String('--format', formats[0], {
    description: `<${formats.join('|')}> How to print ${what}`,
    validator: parsedBy<Format>('--format', (text, option) => parseChoice(text, option, formats)),
  });

export const hostOption = () =>
  Option.String('--host', { description: '<host> Bind address instead of the configured one' });

export const portOption = () =>
  Option.String('--port', {
    description: '<port> Port instead of the configured one; 0 takes a free one',
    validator: parsedBy('--port', parsePort),
  });

/** @param what happens when any are found */
export const failOnOption = (what: string) =>
  Option.String('--fail-on', {
    description: `<${FAIL_ON.join(',')}|none> ${what}`,
    validator: parsedBy('--fail-on', (text, option) => {
      const named = parseList(text).map((each) => parseChoice(each, option, [...FAIL_ON, 'none']));
      return FAIL_ON.filter((each) => named.includes(each));
    }),
  });

/** For commands that work on a PostgreSQL directly. */
export const databaseOption = () =>
  Option.String('--database', {
    description: '<env:NAME|file:path> URL of the database instead of the configured one',
  });

/** For a background process, whose parent redirects its output to this file. */
export const logFileOption = () =>
  Option.String('--log-file', {
    description: '<path> Where the output of this process goes, for `gateway status`',
  });

/** For commands where the same name may belong to jobs of several profiles. */
export const jobProfileOption = () =>
  Option.String('--profile', { description: '<profile> Look for the job in this profile only' });

/** What a job is, and where its answers go. */
export const scheduleOption = () =>
  Option.String('--schedule', { description: '<cron> Minute, hour, day of month, month, day of week' });

export const promptOption = () => Option.String('--prompt', { description: '<text> The prompt of each run' });

export const descriptionOption = () => Option.String('--description', { description: '<text> What it is for' });

export const chatIdOption = () =>
  Option.String('--deliver-chat-id', { description: '<id> Chat or channel; may be negative' });

/** Which deliveries or requests are meant. */
export const routeFilterOption = () => Option.String('--route', { description: '<name> Only this route' });

export const jobFilterOption = () => Option.String('--job', { description: '<id> Only runs of this job' });

export const sinceOption = () =>
  Option.String('--since', { description: '<time> Accepted since: 30min, 12h, 7d, or a date' });
