/** Options that several commands have, each with one name, one meaning and one description. */
import { Option } from 'clipanion';
import { FAIL_ON } from '../../runtime/control/operations.ts';
import { parseChoice, parsedBy, parseList, parsePort } from './values.ts';

export const configOption = () =>
  Option.Array('--config', { description: '<path|glob> Configuration instead of the usual search; repeatable' });

export const jsonOption = () => Option.Boolean('--json', false, { description: 'Print JSON' });

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

/** @param what happens when some are found */
export const failOnOption = (what: string) =>
  Option.String('--fail-on', {
    description: `<${FAIL_ON.join(',')}> ${what}`,
    validator: parsedBy('--fail-on', (text, option) =>
      text === 'none' ? [] : parseList(text).map((each) => parseChoice(each, option, FAIL_ON)),
    ),
  });

/** Of a process in the background: whoever starts it redirects its output there. */
export const logFileOption = () =>
  Option.String('--log-file', {
    description: '<path> Where the output of this process goes, for `gateway status`',
  });

/** Where the same name may stand for jobs of several profiles. */
export const jobProfileOption = () =>
  Option.String('--profile', { description: '<profile> Look for the job in this profile only' });
