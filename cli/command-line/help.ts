/** The help texts: all commands on one screen, one group of commands, one command. */
import type { Paint } from '../../base/paint.ts';
import type { Command, ListedCommand, NamedOption } from '../base/command.ts';
import { wrapBeside, wrapWords } from '../output/print.ts';
import { usageOf } from './argv.ts';

/** The layout of a help text: its colours and its width in columns. */
export interface HelpLayout {
  readonly paint: Paint;
  readonly width: number;
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
  const { summary, details, examples, options, args } = command;
  const sections: string[][] = [
    wrapWords(`${summary}.`, layout.width),
    wrapBeside('Usage: ', `${usageOf(path, args)}${options.length > 0 ? ' [options]' : ''}`, layout.width),
  ];
  if (options.length > 0) {
    sections.push([
      'Options:',
      ...formatRows(
        options.map((option) => [optionLabel(option), option.description] as const),
        layout,
      ),
    ]);
  }
  if (details !== '') sections.push(details.split('\n').flatMap((line) => wrapItem(line, layout.width)));
  if (examples.length > 0) {
    sections.push([
      'Examples:',
      ...examples.flatMap(([text, line]) => [
        ...wrapBeside(`${INDENT}# `, text, layout.width),
        ...wrapCommand(line.replaceAll('$0', 'hookwright'), layout.width - INDENT.length).map(
          (part) => INDENT + layout.paint('cyan', part),
        ),
      ]),
    ]);
  }
  return `${sections.map((section) => section.join('\n')).join('\n\n')}\n`;
}

/** A line of a list is indented as far as its text. */
const wrapItem = (line: string, width: number): string[] =>
  line.startsWith('- ') ? wrapBeside('- ', line.slice(2), width) : wrapWords(line, width);

/** As it is typed: `-n, --lines <count>`. */
export const optionLabel = ({ names, value }: NamedOption): string =>
  value === null ? names.join(', ') : `${names.join(', ')} <${value}>`;

/** Words as a shell splits them; quotes stay. */
const WORD = /(?:'[^']*'|"[^"]*"|[^\s'"])+/g;
/** A line may end before these: options, settings (`name=value`), pipes and the next command. */
const BREAK = /^(?:-|\||&&|[a-z]\w*=)/;

/** @param width columns of the terminal; an option with a longer value has a line of its own */
export function wrapCommand(command: string, width: number): string[] {
  if (command.length <= width) return [command];
  const lines: string[] = [];
  for (const part of partsOf(command)) {
    const line = lines.at(-1);
    // The backslash and the space before it take two columns.
    if (line !== undefined && line.length + 1 + part.length + 2 <= width) lines[lines.length - 1] = `${line} ${part}`;
    else lines.push(line === undefined ? part : INDENT + part);
  }
  return lines.map((line, at) => (at === lines.length - 1 ? line : `${line} \\`));
}

function partsOf(command: string): string[] {
  const parts: string[] = [];
  for (const word of command.match(WORD) ?? []) {
    const last = parts.length - 1;
    if (last < 0 || BREAK.test(word)) parts.push(word);
    else parts[last] = `${parts[last]} ${word}`;
  }
  return parts;
}
