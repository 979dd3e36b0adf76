/** An include without files. */
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { Range, SourceText } from '../text/source-text.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const emptyInclude = {
  id: 'empty-include',
  /** @param paths paths of the files that match the pattern */
  check(pattern: string, paths: readonly string[], at: { source: SourceText; range: Range }): readonly Finding[] {
    return paths.length > 0 ? [] : [{ rule: 'empty-include', ...at, message: `no file matches \`${pattern}\`` }];
  },
} as const satisfies ListedRule;
