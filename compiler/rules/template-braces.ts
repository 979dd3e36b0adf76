/** Braces doubled as in other template languages. */

import { PATH } from '../config/template-grammar.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const templateBraces = {
  id: 'template-braces',
  group: 'templates',
  severity: 'warning',
  title: 'A placeholder is written with two pairs of braces.',
  why: 'One pair is enough; the other one stays in the text.',
  check(text: string): readonly Problem[] {
    return [...text.matchAll(DOUBLED)].map(({ 0: written, 1: path, index }) => ({
      rule: templateBraces,
      path: [],
      at: 'value',
      message: `${written} keeps one pair of braces around the value; write {${path}}`,
      within: { offset: index, length: written.length },
      fix: { kind: 'replace', text: `{${path}}` },
    }));
  },
} as const satisfies ListedRule;

const DOUBLED = new RegExp(`\\{\\{(${PATH})\\}\\}`, 'g');
