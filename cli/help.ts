/** The help texts: all commands on one screen, one group of commands, one command. */
import type { CommandClass, Definition } from 'clipanion';
import type { CommandEntry } from './commands.ts';
import type { CliContext } from './context.ts';
import type { Paint } from './output/colour.ts';

const INDENT = '  ';
const WRAP = 100;

/** `hookwright --help` and `hookwright webhook --help`: a line for each command. */
export function formatOverview(entries: readonly CommandEntry[], paint: Paint, group?: string): string {
  const shown = entries.filter(
    ({ path, hidden }) => hidden !== true && (group === undefined || path.startsWith(`${group} `)),
  );
  const width = Math.max(...shown.map((entry) => entry.path.length));
  const lines = shown.map((entry) => `${INDENT}${paint('bold', entry.path.padEnd(width))}  ${entry.summary}`);
  const usage = group === undefined ? 'hookwright <command> [options]' : `hookwright ${group} <command> [options]`;
  const title = group === undefined ? ['Signed webhooks in; agent prompts, messages and jobs out.', ''] : [];
  return [
    ...title,
    `Usage: ${usage}`,
    '',
    ...lines,
    '',
    `hookwright ${group === undefined ? '' : `${group} `}<command> --help shows a command's options and examples.`,
    '',
  ].join('\n');
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
