/** A list file that does not exist on this machine (§2.2). */
import type { FilterConfig } from '../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const listFileMissing = {
  id: 'list-file-missing',
  checkRoute(route): readonly Problem[] {
    return listFiles(route.config.filters ?? [], ['filters'])
      .filter(({ file }) => !file.endsWith('/') && !route.scope.facts.listFile(file.replace(/^<home_dir>\/+/, '')))
      .map(({ file, path }) => ({
        rule: 'list-file-missing',
        path,
        at: 'value',
        message: `the list \`${file}\` does not exist here: the filter matches nothing`,
      }));
  },
} as const satisfies ViewRule;

interface ListFile {
  readonly file: string;
  readonly path: NodePath;
}

function listFiles(filters: FilterConfig | readonly FilterConfig[], path: NodePath): readonly ListFile[] {
  if (isList(filters)) return filters.flatMap((filter, index) => listFiles(filter, [...path, index]));
  const own = filters.in_file === undefined ? [] : [{ file: filters.in_file, path: [...path, 'in_file'] }];
  const groups = (['all', 'any', 'not'] as const).flatMap((group) => listFiles(filters[group] ?? [], [...path, group]));
  return [...own, ...groups];
}

const isList = (filters: FilterConfig | readonly FilterConfig[]): filters is readonly FilterConfig[] =>
  Array.isArray(filters);
