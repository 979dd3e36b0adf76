/** Warns about numbers that are used as text and lose digits: YAML reads `1712.50` as 1712.5. */
import type { NodePath, Problem } from './diagnostics/problem.ts';
import type { Report } from './report.ts';
import type { Places } from './source/file-tree.ts';
import { isPlainMap } from './text/plain-map.ts';
import { isSecretName } from './text/secret-names.ts';

/** A map whose values become addresses or settings of a target. */
export interface TextMap {
  readonly value: unknown;
  readonly path: NodePath;
}

/** Checks the numbers in these maps, at any depth. */
export function checkDigits(maps: readonly TextMap[], tree: Places, report: Report): void {
  for (const { value, path } of maps.flatMap(numbersIn)) {
    const { file, value: range } = tree.place(path);
    const written = file.source.text.slice(range.start, range.end);
    report.addProblems(lostDigits(value, written, path), tree);
  }
}

interface NumberPlace {
  readonly value: number;
  readonly path: NodePath;
}

function numbersIn({ value, path }: TextMap): readonly NumberPlace[] {
  if (typeof value === 'number') return [{ value, path }];
  if (!isPlainMap(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => numbersIn({ value: item, path: [...path, key] }));
}

/** @param written text of the number in the file; for an alias, the number is checked at its anchor */
function lostDigits(value: number, written: string, path: NodePath): readonly Problem[] {
  if (written === String(value) || !/^[-+.\d]/.test(written)) return [];
  const at = { rule: 'lost-digits', path, at: 'value' } as const;
  // The message must not repeat a secret.
  if (isSecretName(String(path.at(-1)))) {
    const message = 'this is read as a number and loses digits';
    return [{ ...at, message, hint: 'write it in quotes', sensitive: true }];
  }
  return [{ ...at, message: `\`${written}\` is read as the number ${value}`, hint: `write '${written}' in quotes` }];
}
