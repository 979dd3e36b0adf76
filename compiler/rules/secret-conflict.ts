/** Both `secret` and `secrets`. */

import { rule } from './support/rule.ts';

export const secretConflict = rule('secret-conflict', {
  route(route, report) {
    const { secret, secrets } = route.config;
    if (secret === undefined || secrets === undefined) return;
    const message = '`secret` and `secrets` exclude each other; put every accepted secret into `secrets`';
    const related = [{ path: ['secrets'], message: 'the list is here' }];
    report({ path: ['secret'], at: 'key', message, related });
  },
});
