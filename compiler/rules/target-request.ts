/** A target without a request. */

import type { TargetRequest } from '../../schemas/generated/types.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetRequest = {
  id: 'target-request',
  /** @param isExchange whether the request gets a token or checks the credentials */
  check(request: TargetRequest | undefined, path: NodePath, isExchange = false): readonly Problem[] {
    if (request === undefined) {
      const message = 'no `request` is defined';
      return [{ rule: 'target-request', path: path.slice(0, -1), at: 'key', message }];
    }
    const [body, second, third] = BODIES.filter((kind) => request[kind] !== undefined);
    const at = (key: string) => ({ rule: 'target-request', path: [...path, key], at: 'value' }) as const;
    const problems: Problem[] = [];
    if (isExchange && request.when !== undefined)
      problems.push({ ...at('when'), message: 'a token or check request is the same for every address' });
    if (second !== undefined) {
      const bodies = [body, second, ...(third === undefined ? [] : [third])];
      problems.push({ ...at(second), message: `one body, not ${bodies.join(' and ')}` });
    }
    if (body !== undefined && request.method === 'GET')
      problems.push({ ...at(body), message: 'a GET request has no body' });
    return problems;
  },
} as const satisfies ListedRule;

const BODIES = ['json', 'form', 'plain'] as const;
