/** Two answers to the question which secret counts. */
import type { Rule } from './support/rule.ts';

export const secretConflict: Rule = {
  id: 'secret-conflict',
  severity: 'error',
  title: 'A route sets both `secret` and `secrets`.',
  why: 'During a rotation it must be clear which secrets are still accepted: `secrets` lists them all, the current one first.',
  checkRoute(route) {
    const { secret, secrets } = route.config;
    if (secret === undefined || secrets === undefined) return [];
    const message = '`secret` and `secrets` exclude each other; put every accepted secret into `secrets`';
    const related = [{ path: ['secrets'], message: 'the list is here' }];
    return [{ rule: this.id, path: ['secret'], at: 'key', message, related }];
  },
};
