/** The rules that look at routes, jobs and parts of the config, in the order of docs/rules.md. */

import { RULE_FILES as PAYLOAD_RULES } from '../../modules/payloads/compiler/rules/built/rule-files.ts';
import { RULES } from '../diagnostics/rule.ts';
import { RULE_FILES } from './built/rule-files.ts';
import type { ViewRule } from './support/view-rule.ts';

const ORDER = new Map(RULES.map(({ id }, index) => [id, index]));

export const VIEW_RULES: readonly ViewRule[] = [...RULE_FILES, ...PAYLOAD_RULES].sort(
  (a, b) => (ORDER.get(a.id) ?? 0) - (ORDER.get(b.id) ?? 0),
);
