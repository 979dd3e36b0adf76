/** Prints what a delivery would send, for people; secrets are hidden already. */
import type { ShownDelivery } from '../../runtime/deliver/driver.ts';
import type { CliContext } from '../base/context.ts';
import { printLine, visible } from '../output/print.ts';

export function printShown(context: CliContext, shown: ShownDelivery): void {
  for (const line of LINES[shown.kind](shown)) printLine(context, visible(line));
}

type Lines = { readonly [Kind in ShownDelivery['kind']]: (shown: ShownDelivery) => readonly string[] };

const LINES: Lines = {
  http: (shown) =>
    shown.kind === 'http' ? [`${shown.method} ${shown.url}`, ...headers(shown.headers), ...body(shown.body)] : [],
  mail: (shown) => (shown.kind === 'mail' ? [...headers(shown.headers), ...body(shown.text)] : []),
  process: (shown) => (shown.kind === 'process' ? [shown.argv.join(' '), ...body(shown.stdin)] : []),
  text: (shown) => (shown.kind === 'text' ? shown.text.split('\n') : []),
};

function headers(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([name, value]) => `${name}: ${value}`);
}

function body(text: string | null): string[] {
  return text === null ? [] : ['', ...text.split('\n')];
}
