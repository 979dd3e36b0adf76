/** A setting with a name that is taken. */
import type { Rule } from '../diagnostics/rule.ts';

export const targetSetting = {
  id: 'target-setting',
  severity: 'error',
  title:
    'A setting of a target has the name of another setting, of a value of the delivery, or of a key every target knows.',
  why: 'A config could not say which of the two it means.',
} as const satisfies Rule;
