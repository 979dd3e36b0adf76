/** Warns of numbers that are used as text and lose digits on the way: YAML reads `1712.50` as 1712.5. */
import type { NodePath, Problem } from './diagnostics/problem.ts';
import type { Report } from './report.ts';
import { lostDigits } from './rules/lost-digits.ts';
import type { Places } from './source/file-tree.ts';
import { isPlainMap } from './text/plain-map.ts';
import { isSecretName } from './text/secret-names.ts';

/** A map whose numbers become addresses or settings of a target. */
export interface TextMap {
  readonly value: unknown;
  readonly path: NodePath;
}

export function checkDigits(maps: readonly TextMap[], tree: Places, report: Report): void {
  for (const { value, path } of maps.flatMap(numbersIn)) {
    const { file, value: range } = tree.place(path);
    const written = file.source.text.slice(range.start, range.end);
    // An alias stands for a number that is checked where it is written.
    if (written === String(value) || !/^[-+.\d]/.test(written)) continue;
    report.addProblems(
      [isSecretName(String(path.at(-1))) ? secretDigits(path) : digitsLost(path, written, value)],
      tree,
    );
  }
}

const digitsLost = (path: NodePath, written: string, value: number): Problem => ({
  rule: lostDigits,
  path,
  at: 'value',
  message: `\`${written}\` is read as the number ${value}`,
  hint: `write '${written}' in quotes`,
});

/** The value is not repeated. */
const secretDigits = (path: NodePath): Problem => ({
  rule: lostDigits,
  path,
  at: 'value',
  message: 'this is read as a number, and digits of it are lost',
  hint: 'write it in quotes',
  sensitive: true,
});

interface NumberPlace {
  readonly value: number;
  readonly path: NodePath;
}

function numbersIn({ value, path }: TextMap): readonly NumberPlace[] {
  if (typeof value === 'number') return [{ value, path }];
  if (!isPlainMap(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => numbersIn({ value: item, path: [...path, key] }));
}
