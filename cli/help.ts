/** The help texts: all commands on one screen, one group of commands, one command. */
import type { CommandClass, Definition } from 'clipanion';
import type { CommandEntry } from './commands.ts';
import { GROUPS } from './commands.ts';
import type { CliContext } from './context.ts';
import type { Paint } from './output/colour.ts';

const INDENT = '  ';
const WRAP = 100;

/** `hookwright --help`: a line for each command that stands alone, and one for each group with its verbs. */
export function formatOverview(entries: readonly CommandEntry[], paint: Paint): string {
  const verbs = new Map<string, string[]>();
  const rows: [string, () => string][] = [];
  for (const { path, summary } of entries.filter(({ hidden }) => hidden !== true)) {
    const [group = '', verb] = path.split(' ');
    const known = verbs.get(group);
    if (verb === undefined) rows.push([path, () => summary]);
    else if (known !== undefined) known.push(verb);
    else {
      const list = [verb];
      verbs.set(group, list);
      rows.push([group, () => `${GROUPS[group] ?? ''}: ${list.join(', ')}`]);
    }
  }
  return [
    'Signed webhooks in; agent prompts, messages and jobs out.',
    '',
    'Usage: hookwright <command> [options]',
    '',
    ...printRows(
      rows.map(([name, text]) => [name, text()]),
      paint,
    ),
    '',
    "hookwright <command> --help shows a command's options and examples, or what a group can do.",
    '',
  ].join('\n');
}

/** `hookwright webhook --help`: a line for each command of the group. */
export function formatGroup(entries: readonly CommandEntry[], paint: Paint, group: string): string {
  const shown = entries.filter(({ path, hidden }) => hidden !== true && path.startsWith(`${group} `));
  return [
    `${GROUPS[group] ?? group}.`,
    '',
    `Usage: hookwright ${group} <command> [options]`,
    '',
    ...printRows(
      shown.map(({ path, summary }) => [path, summary]),
      paint,
    ),
    '',
    `hookwright ${group} <command> --help shows a command's options and examples.`,
    '',
  ].join('\n');
}

function printRows(rows: readonly (readonly [string, string])[], paint: Paint): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.flatMap(([name, text]) =>
    wrap(text, WRAP - width - 4).map(
      (line, at) => `${INDENT}${at === 0 ? paint('bold', name.padEnd(width)) : ' '.repeat(width)}  ${line}`,
    ),
  );
}

/** `hookwright lint --help`. */
export function formatCommandHelp(command: CommandClass<CliContext>, definition: Definition, paint: Paint): string {
  const { description = '', details = '', examples = [] } = command.usage ?? {};
  const options = definition.options.map(splitOption);
  const width = Math.max(0, ...options.map((option) => option.label.length));
  const sections: string[][] = [
    [`${description}.`],
    [`Usage: ${definition.usage}${options.length > 0 ? ' [options]' : ''}`],
  ];
  if (options.length > 0) {
    sections.push([
      'Options:',
      ...options.flatMap(({ label, text }) =>
        wrap(text, WRAP - width - 4).map(
          (line, at) => `${INDENT}${at === 0 ? paint('bold', label.padEnd(width)) : ' '.repeat(width)}  ${line}`,
        ),
      ),
    ]);
  }
  if (details.trim() !== '')
    sections.push(
      details
        .trim()
        .split('\n')
        .map((line) => line.trim())
        .flatMap((line) => wrap(line, WRAP)),
    );
  if (examples.length > 0) {
    sections.push([
      'Examples:',
      ...examples.flatMap(([text, line]) => [
        `${INDENT}# ${text}`,
        `${INDENT}${paint('cyan', line.replaceAll('$0', 'hookwright'))}`,
      ]),
    ]);
  }
  return `${sections.map((section) => section.join('\n')).join('\n\n')}\n`;
}

/** An option's description may open with the name of its value: `<dir> Where to write`. */
function splitOption(option: Definition['options'][number]): { label: string; text: string } {
  const [names = '', takesValue] = option.definition.split(' ');
  const [, placeholder, text] = /^(<[^>]+>)?\s*(.*)$/s.exec(option.description?.trim() ?? '') ?? [];
  const label = names.replaceAll(',', ', ');
  return { label: takesValue === undefined ? label : `${label} ${placeholder ?? '<value>'}`, text: text ?? '' };
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
