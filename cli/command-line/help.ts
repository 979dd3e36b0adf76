/** The help texts: all commands on one screen, one group of commands, one command. */
import type { Paint } from '../../base/paint.ts';
import type { Command, ListedCommand } from '../base/command.ts';
import { wrapBeside, wrapWords } from '../output/print.ts';
import { describe } from './clipanion.ts';

/** The layout of a help text: its colours and its width in columns. */
export interface HelpLayout {
  readonly paint: Paint;
  readonly width: number;
  readonly coloured: boolean;
}

const INDENT = '  ';

type Entries = readonly Omit<ListedCommand<never>, 'load'>[];

/** `hookwright --help`, one screen: a line for each command, the commands of one noun on one. @param entries in their order */
export function formatOverview(entries: Entries, layout: HelpLayout): string {
  const rows = new Map<string, string>();
  for (const { path, summary, title } of entries) {
    const [noun = '', verb] = path.split(' ');
    const before = rows.get(noun);
    if (title === null) rows.set(path, summary);
    else if (before?.endsWith(` ${verb}`)) continue;
    else rows.set(noun, before === undefined ? `${title}: ${verb}` : `${before}, ${verb}`);
  }
  return [
    'Signed webhooks in; agent prompts, messages and jobs out.',
    '',
    'Usage: hookwright <command> [options]',
    '',
    ...formatRows([...rows], layout),
    '',
    'For more add --help: hookwright gateway --help, hookwright gateway start --help',
    '',
  ].join('\n');
}

/** `hookwright webhook --help`. */
export const formatGroup = (entries: Entries, group: string, layout: HelpLayout): string =>
  [
    `Usage: hookwright ${group} <command> [options]`,
    '',
    ...formatRows(
      entries.filter(({ path }) => path.startsWith(`${group} `)).map(({ path, summary }) => [path, summary] as const),
      layout,
    ),
    '',
    `hookwright ${group} <command> --help shows a command's options and examples.`,
    '',
  ].join('\n');

function formatRows(rows: readonly (readonly [name: string, text: string])[], layout: HelpLayout): string[] {
  const { paint } = layout;
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.flatMap(([name, text]) =>
    wrapWords(text, layout.width - width - 4).map(
      (line, at) => `${INDENT}${at === 0 ? paint('bold', name.padEnd(width)) : ' '.repeat(width)}  ${line}`,
    ),
  );
}

/** `hookwright lint --help`. */
export function formatCommandHelp(path: string, command: Command<never>, layout: HelpLayout): string {
  const { usage, options, details, examples } = describe(path, command, layout.coloured);
  const sections: string[][] = [
    wrapWords(`${command.summary}.`, layout.width),
    wrapBeside('Usage: ', `${usage}${options.length > 0 ? ' [options]' : ''}`, layout.width),
  ];
  if (options.length > 0) sections.push(['Options:', ...formatRows(options, layout)]);
  if (details !== '') sections.push([details]);
  const lines = examples.flatMap(([what, line]) => [
    ...wrapBeside(`${INDENT}# `, what, layout.width),
    INDENT + layout.paint('cyan', line),
  ]);
  if (lines.length > 0) sections.push(['Examples:', ...lines]);
  return `${sections.map((section) => section.join('\n')).join('\n\n')}\n`;
}
