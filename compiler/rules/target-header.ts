/** A header that cannot be sent. */
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetHeader = {
  id: 'target-header',
  group: 'catalog',
  severity: 'error',
  title: 'A request of a target names a header that is none, or one that the executor sets itself.',
  why: 'The request would be refused before it leaves the machine.',
  check(name: string, path: NodePath): readonly Problem[] {
    const lowerCase = name.toLowerCase();
    const at = { rule: targetHeader, path, at: 'key' } as const;
    if (!HEADER_NAME.test(lowerCase)) return [{ ...at, message: `${JSON.stringify(name)} is no header name` }];
    if (!OWN_HEADERS.has(lowerCase)) return [];
    return [{ ...at, message: `\`${lowerCase}\` is set by the executor and cannot be named here` }];
  },
} as const satisfies ListedRule;

/** Headers that are ours to write: a target that set them would break the request or its framing. */
const OWN_HEADERS = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'expect']);
const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
