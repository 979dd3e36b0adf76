/** An invalid line of a `.env` file. */

import { parseEnvLines } from '../../base/env-lines.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { SourceText } from '../text/source-text.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const envFileSyntax = {
  id: 'env-file-syntax',
  group: 'reading',
  severity: 'warning',
  title: 'A line in `<home_dir>/.env` is not `KEY=value`.',
  why: 'A secret on that line would be missing when the server starts.',
  /** The line may contain a secret. */
  check(source: SourceText): readonly Finding[] {
    return parseEnvLines(source.text).faults.map((range) => ({
      rule: envFileSyntax,
      source,
      range,
      message: 'not a `KEY=value` line',
      sensitive: true,
    }));
  },
} as const satisfies ListedRule;
