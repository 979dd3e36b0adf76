/**
 * Edits `.env` files, lists the files that sandboxed programs may not read, and prints changes line by line.
 */
import { dirname } from 'node:path';
import type { Paint } from '../base/paint.ts';
import type { SandboxContext } from '../runtime/platform/process/sandbox.ts';
import { secretPaths, tableSecretRefs, userHome } from '../runtime/platform/secrets.ts';
import type { RouteTable } from '../schemas/generated/types.ts';
import type { CliContext } from './base/context.ts';
import { builtFolder } from './compile/compile-files.ts';
import { visible } from './output/print.ts';

/** Returns `text` with `values` set: existing variables in place, new ones at the end. */
export function setEnvLines(text: string, values: Readonly<Record<string, string>>): string {
  const left = new Map(Object.entries(values));
  const lines = text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
  const kept = lines.map((line) => {
    const name = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=/.exec(line)?.[1];
    const value = name === undefined ? undefined : left.get(name);
    if (name === undefined || value === undefined) return line;
    left.delete(name);
    return `${name}=${quote(value)}`;
  });
  const added = [...left].map(([name, value]) => `${name}=${quote(value)}`);
  return `${[...kept, ...added].join('\n')}\n`;
}

/** Without quotes if the value is unambiguous. */
function quote(value: string): string {
  if (/^[A-Za-z0-9_./:@%+,=-]*$/.test(value)) return value;
  if (!value.includes("'") && !value.includes('\n')) return `'${value}'`;
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}

/** @param files absolute paths of the configuration */
export function guardedFiles(
  context: CliContext,
  table: RouteTable,
  files: readonly string[],
): Pick<SandboxContext, 'hidden' | 'home' | 'userHome'> {
  const { projectEnv, home } = context;
  const secrets = secretPaths(tableSecretRefs(table), context);
  const folders = new Set([context.cwd, ...files.map((file) => dirname(file))]);
  // The gateway would serve a table that a program has written.
  const built = [...folders].map((folder) => builtFolder({ cwd: folder, home: context.home }));
  const hidden = [...files, ...built, ...(projectEnv === undefined ? [] : [projectEnv]), ...secrets];
  return { home, userHome: userHome(context.env), hidden: () => hidden };
}

type Edit = readonly [sign: ' ' | '-' | '+', line: string];

/** Unchanged lines shown around a change. */
const CONTEXT = 2;

/** The changed lines with some context; empty if the texts are equal. */
export function formatDiff(before: string, after: string, paint: Paint): string[] {
  const edits = diffLines(splitLines(before), splitLines(after));
  const near = edits.map((_, at) =>
    edits.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(([sign]) => sign !== ' '),
  );
  const lines: string[] = [];
  edits.forEach(([sign, line], at) => {
    if (near[at] !== true) {
      if (near[at - 1] === true) lines.push(paint('dim', '  …'));
      return;
    }
    const text = `${sign} ${visible(line)}`;
    lines.push(sign === ' ' ? paint('dim', text) : paint(sign === '+' ? 'green' : 'red', text));
  });
  return lines;
}

const splitLines = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** Longest common subsequence; configuration files are small, so its quadratic cost does not matter. */
function diffLines(a: readonly string[], b: readonly string[]): Edit[] {
  const common: number[][] = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = common[i] ?? [];
    for (let j = b.length - 1; j >= 0; j -= 1)
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const edits: Edit[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      edits.push([' ', left]);
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      edits.push(['-', left]);
      i += 1;
    } else if (right !== undefined) {
      edits.push(['+', right]);
      j += 1;
    }
  }
  return edits;
}
