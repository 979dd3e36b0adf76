/** A list file that does not exist on this machine (§2.2). */
import type { FilterConfig } from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/problem.ts';
import { rule } from './support/rule.ts';

export const listFileMissing = rule('list-file-missing', {
  route(route, report) {
    for (const { file, path } of listFiles(route.config.filters ?? [], ['filters'])) {
      if (file.endsWith('/') || route.scope.facts.listFile(file.replace(/^<home_dir>\/+/, ''))) continue;
      const message = `the list \`${file}\` does not exist here: the filter matches nothing`;
      report({ path, at: 'value', message });
    }
  },
});

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
