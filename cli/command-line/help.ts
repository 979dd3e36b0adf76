/** The help texts: all commands on one screen, one group of commands, one command. */
import type { CommandClass } from 'clipanion';
import type { Paint } from '../../base/paint.ts';
import type { CliContext } from '../base/context.ts';
import { wrapBeside, wrapWords } from '../output/wrap-words.ts';
import type { CommandEntry, CommandGroup } from './command-entry.ts';
import type { CommandShape, OptionShape } from './command-shape.ts';
import { wrapCommand } from './wrap-command.ts';

/** The layout of a help text: its colours and its width in columns. */
export interface HelpLayout {
  readonly paint: Paint;
  readonly width: number;
}

const INDENT = '  ';

const visibleIn = (entries: readonly CommandEntry[]): readonly CommandEntry[] =>
  entries.filter(({ hidden }) => hidden !== true);

/** `hookwright --help`, one screen: a line for each command, the commands of one noun on one. */
export function formatOverview(
  entries: readonly CommandEntry[],
  groups: readonly CommandGroup[],
  layout: HelpLayout,
): string {
  const rows = new Map<string, string>();
  for (const { path, summary } of visibleIn(entries)) {
    const [noun = '', verb] = path.split(' ');
    const title = groups.find((group) => group.noun === noun)?.title;
    const before = rows.get(noun);
    if (verb === undefined || title === undefined) rows.set(path, summary);
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
export function formatGroup(entries: readonly CommandEntry[], group: string, layout: HelpLayout): string {
  const shown = visibleIn(entries).filter(({ path }) => path.startsWith(`${group} `));
  return [
    `Usage: hookwright ${group} <command> [options]`,
    '',
    ...formatRows(
      shown.map(({ path, summary }) => [path, summary] as const),
      layout,
    ),
    '',
    `hookwright ${group} <command> --help shows a command's options and examples.`,
    '',
  ].join('\n');
}

function formatRows(rows: readonly (readonly [name: string, text: string])[], layout: HelpLayout): string[] {
  const { paint } = layout;
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.flatMap(([name, text]) =>
    wrapWords(text, layout.width - width - 4).map(
      (line, at) => `${INDENT}${at === 0 ? paint('bold', name.padEnd(width)) : ' '.repeat(width)}  ${line}`,
    ),
  );
}

/** A command as its help shows it. */
export interface HelpSubject {
  readonly command: CommandClass<CliContext>;
  readonly shape: CommandShape;
  readonly usage: string;
}

/** `hookwright lint --help`. */
export function formatCommandHelp({ command, shape, usage }: HelpSubject, layout: HelpLayout): string {
  const { description = '', details = '', examples = [] } = command.usage ?? {};
  const { options } = shape;
  const sections: string[][] = [
    wrapWords(`${description}.`, layout.width),
    wrapBeside('Usage: ', `${usage}${options.length > 0 ? ' [options]' : ''}`, layout.width),
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
  if (details.trim() !== '')
    sections.push(
      details
        .trim()
        .split('\n')
        .map((line) => line.trim())
        .flatMap((line) => wrapWords(line, layout.width)),
    );
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

/** As it is typed: `-n, --lines <count>`. */
export const optionLabel = ({ names, takesValue, value }: OptionShape): string =>
  takesValue ? `${names.join(', ')} <${value}>` : names.join(', ');
