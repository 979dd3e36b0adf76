/** A file that cannot be read. */
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { SourceText } from '../text/source-text.ts';
import { START } from '../text/source-text.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const unreadableFile = {
  id: 'unreadable-file',
  /** Reports at the file itself; source/load-config.ts reports at the `include` that names a file. */
  check(read: ReadText, source: SourceText): readonly Finding[] {
    return read.ok ? [] : [{ rule: 'unreadable-file', source, range: START, message: read.message }];
  },
} as const satisfies ListedRule;

type ReadText = { readonly ok: true } | { readonly ok: false; readonly message: string };
