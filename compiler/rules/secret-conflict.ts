/** Both `secret` and `secrets`. */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const secretConflict = {
  id: 'secret-conflict',
  checkRoute(route): readonly Problem[] {
    const { secret, secrets } = route.config;
    if (secret === undefined || secrets === undefined) return [];
    const message = '`secret` and `secrets` exclude each other; put every accepted secret into `secrets`';
    const related = [{ path: ['secrets'], message: 'the list is here' }];
    return [{ rule: 'secret-conflict', path: ['secret'], at: 'key', message, related }];
  },
} as const satisfies ViewRule;
