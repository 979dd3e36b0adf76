/** Converts the filters of a Hermes Agent route, which differ in paths and in the meaning of several operators in one filter. */
import type { NodePath } from '../../../../compiler/diagnostics/problem.ts';
import { isPlainMap } from '../../../../compiler/text/plain-map.ts';
import type { KeyReport } from '../report.ts';

/** In the original's order of precedence: it uses only the first one that is present. */
const GROUPS = ['all', 'any', 'not'] as const;
const OPERATORS = ['exists', 'missing', 'equals', 'not_equals', 'contains', 'in', 'in_file', 'regex'] as const;

/** Deeper filters are left unchanged, and the compiler rejects them. */
const MAX_DEPTH = 100;

export function convertFilter(filter: unknown, path: NodePath, report: KeyReport, depth = 0): unknown {
  if (Array.isArray(filter)) return filter.map((item, at) => convertFilter(item, [...path, at], report, depth + 1));
  if (!isPlainMap(filter) || depth > MAX_DEPTH) return filter;
  const group = GROUPS.find((name) => Object.hasOwn(filter, name));
  if (group !== undefined) {
    noteOthers(filter, [group], path, report);
    return { [group]: convertFilter(filter[group], [...path, group], report, depth + 1) };
  }
  // The original ignores `missing: false`.
  const operator = OPERATORS.find(
    (name) => Object.hasOwn(filter, name) && (name !== 'missing' || filter[name] === true),
  );
  if (operator === undefined) return filter;
  noteOthers(filter, ['field', operator], path, report);
  const value = operator === 'in_file' ? filePath(filter[operator], [...path, operator], report) : filter[operator];
  return { ...(filter.field === undefined ? {} : { field: filter.field }), [operator]: value };
}

function noteOthers(filter: object, used: readonly string[], path: NodePath, report: KeyReport): void {
  for (const key of Object.keys(filter))
    if (!used.includes(key))
      report.changed([...path, key], `Hermes Agent ignores it next to \`${used.at(-1)}\``, 'It is left out');
}

/** Relative paths are relative to the original's home folder. */
function filePath(value: unknown, path: NodePath, report: KeyReport): unknown {
  if (typeof value !== 'string' || value.startsWith('/') || value.startsWith('~')) return value;
  const moved = `~/.hermes/${value}`;
  report.changed(path, `relative paths start at hookwright's home: it is now ${moved}`);
  return moved;
}
