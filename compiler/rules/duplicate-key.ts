/** A key that is set twice in one map. */
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { Range, SourceText } from '../text/source-text.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const duplicateKey = {
  id: 'duplicate-key',
  /** @param first the earlier occurrence in this map, if any */
  check(key: string, { source, first, again }: WrittenKey): readonly Finding[] {
    if (first === undefined) return [];
    const related = [{ source, range: first, message: 'it is first set here' }];
    return [
      { rule: 'duplicate-key', source, range: again, message: `the key \`${key}\` is set twice in one map`, related },
    ];
  },
} as const satisfies ListedRule;

export interface WrittenKey {
  readonly source: SourceText;
  readonly first: Range | undefined;
  readonly again: Range;
}
