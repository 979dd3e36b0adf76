/** An invalid line of a `.env` file. */

import { parseEnvLines } from '../../base/env-lines.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { SourceText } from '../text/source-text.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const envFileSyntax = {
  id: 'env-file-syntax',
  /** The line may contain a secret. */
  check(source: SourceText): readonly Finding[] {
    return parseEnvLines(source.text).faults.map((range) => ({
      rule: 'env-file-syntax',
      source,
      range,
      message: 'not a `KEY=value` line',
      sensitive: true,
    }));
  },
} as const satisfies ListedRule;
