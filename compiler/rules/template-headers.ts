/** A header in a template, which can only use payload fields. */

import { PATH } from '../config/template-grammar.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const templateHeaders = {
  id: 'template-headers',
  check(text: string): readonly Problem[] {
    return [...text.matchAll(HEADER)].map(({ 0: written, index }) => ({
      rule: 'template-headers',
      path: [],
      at: 'value',
      message: `${written} never resolves: only filters can use headers`,
      within: { offset: index, length: written.length },
    }));
  },
} as const satisfies ListedRule;

const HEADER = new RegExp(`\\{headers\\.${PATH}\\}`, 'g');
