/** An empty config file. */
import type { Finding } from '../diagnostics/diagnostic.ts';
import { HOW_TO_START } from '../text/how-to-start.ts';
import type { SourceText } from '../text/source-text.ts';
import { START } from '../text/source-text.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const emptyConfig = {
  id: 'empty-config',
  group: 'reading',
  severity: 'warning',
  title: 'The config file is empty, or contains only comments.',
  why: 'It is valid but defines no routes and no jobs. Perhaps another file was meant.',
  /** @param config content of the root file */
  check(config: Readonly<Record<string, unknown>>, source: SourceText): readonly Finding[] {
    if (Object.keys(config).length > 0) return [];
    const message = 'this file configures nothing: no route, no job, no target';
    return [{ rule: emptyConfig, source, range: START, message, hint: HOW_TO_START }];
  },
} as const satisfies ListedRule;
