/** A reference to a secret that can never resolve. */
import type { Problem } from '../diagnostics/problem.ts';
import { DEFAULT_PROFILE } from '../route-scope.ts';
import { parseSecretRef, secretRefProblem } from '../source/secret-ref.ts';
import type { Rule } from './support/rule.ts';

export const secretReference: Rule = {
  id: 'secret-reference',
  severity: 'error',
  title: 'A secret starts with `env:` or `file:` and what follows is no name or path.',
  why: 'It would be found out when the server starts, on the machine where it hurts.',
  bad: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      pulls:
        secret: "env:MY SECRET"
        prompt: "{title}"
`,
  },
  good: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      pulls:
        secret: env:MY_SECRET
        prompt: "{title}"
`,
  },
  checkRoute(route) {
    return route.secrets.flatMap(({ ref, path }): readonly Problem[] => {
      const message = path === null ? null : secretRefProblem(ref);
      return message === null || path === null ? [] : [{ rule: this.id, path, at: 'value', message }];
    });
  },
  checkConfig({ settings }) {
    const path = settings.pathOf('secret');
    const { secret } = settings.values;
    const message = secret === undefined ? null : secretRefProblem(parseSecretRef(secret, DEFAULT_PROFILE));
    return message === null || path === null ? [] : [{ rule: this.id, path, at: 'value', message }];
  },
};
