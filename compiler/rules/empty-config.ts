/** An empty config file. */
import type { Finding } from '../diagnostics/diagnostic.ts';
import { HOW_TO_START } from '../text/how-to-start.ts';
import type { SourceText } from '../text/source-text.ts';
import { START } from '../text/source-text.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const emptyConfig = {
  id: 'empty-config',
  /** @param config content of the root file */
  check(config: Readonly<Record<string, unknown>>, source: SourceText): readonly Finding[] {
    if (Object.keys(config).length > 0) return [];
    const message = 'this file configures nothing: no route, no job, no target';
    return [{ rule: 'empty-config', source, range: START, message, hint: HOW_TO_START }];
  },
} as const satisfies ListedRule;
