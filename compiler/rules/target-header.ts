/** A header that a target cannot set. */
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetHeader = {
  id: 'target-header',
  check(name: string, path: NodePath): readonly Problem[] {
    const lowerCase = name.toLowerCase();
    const at = { rule: 'target-header', path, at: 'key' } as const;
    if (!HEADER_NAME.test(lowerCase)) return [{ ...at, message: `${JSON.stringify(name)} is not a header name` }];
    if (!OWN_HEADERS.has(lowerCase)) return [];
    return [{ ...at, message: `\`${lowerCase}\` is set by the executor and cannot be named here` }];
  },
} as const satisfies ListedRule;

/** Headers that the executor sets: setting them in a target would break the request's framing. */
const OWN_HEADERS = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'expect']);
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
