/** How commands write: results to stdout, everything a person reads beside them to stderr. */
import type { CliContext } from '../base/context.ts';

/** Width of the terminal that results are written to; undefined if it is not a terminal, so that nothing is wrapped or cut. */
export const terminalWidth = ({ stdout }: CliContext): number | undefined =>
  stdout.isTTY ? stdout.columns : undefined;

/** One line of a result. */
export function printLine(context: CliContext, text = ''): void {
  context.stdout.write(`${text}\n`);
}

/** A result for programs: `--json`. */
export function printJson(context: CliContext, value: unknown): void {
  context.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Output besides the result: progress, advice, warnings. */
export function printNote(context: CliContext, text: string): void {
  context.stderr.write(`${text}\n`);
}

/** Makes control characters visible, so that no stored text can drive the terminal it is shown on. */
export function visible(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (char) => {
    if (char === '\n') return '\\n';
    if (char === '\t') return '\\t';
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
