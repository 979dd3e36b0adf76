/** A value that is unknown or not allowed in its place. */

import type { ValueRef } from '../../schemas/generated/types.ts';
import type { TextPlace, TextScope } from '../config/target-scope.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetValue = {
  id: 'target-value',
  /** Checks one placeholder. @param of the kind of value that it names; null if it is unknown */
  check({ name, of, optional, within }: NamedValue, { at, path }: WrittenAt, scope: TextScope): readonly Problem[] {
    const message = of === null ? unknownName(name, scope) : misplaced(name, { of, optional }, at);
    return message === null ? [] : [{ rule: 'target-value', path, at: 'value', within, message }];
  },
} as const satisfies ListedRule;

export interface NamedValue {
  readonly name: string;
  readonly of: ValueRef['of'] | null;
  readonly optional: boolean;
  readonly within: { readonly offset: number; readonly length: number };
}

export interface WrittenAt {
  readonly at: TextPlace;
  readonly path: NodePath;
}

const ALLOWED: Readonly<Record<TextPlace, readonly ValueRef['of'][]>> = {
  base: ['setting'],
  basic: ['setting'],
  header: ['setting', 'exchanged_token', 'timestamp', 'signature', 'key', 'piece', 'pieces'],
  path: ['setting', 'exchanged_token', 'timestamp', 'signature', 'key', 'piece', 'pieces', 'address', 'match'],
  content: [
    'setting',
    'exchanged_token',
    'timestamp',
    'signature',
    'key',
    'piece',
    'pieces',
    'address',
    'match',
    'text',
  ],
  signature: ['setting', 'timestamp'],
  exchange: ['setting'],
};

function unknownName(name: string, scope: TextScope): string {
  if (name === 'exchanged_token') return '`{exchanged_token}` needs an `exchange`';
  if (name === 'signature' || name === 'timestamp') return `\`{${name}}\` needs a \`signature\``;
  if (name.startsWith('match.')) return `\`{${name}}\` needs a group (?P<${name.slice(6)}>…) in \`when.chat_id\``;
  const known = [...Object.keys(scope.settings), 'chat_id', 'thread', ...Object.keys(scope.address), 'text', 'key'];
  return `\`{${name}}\` is unknown; the values are ${[...new Set(known)].join(', ')}`;
}

function misplaced(
  name: string,
  { of, optional }: { readonly of: ValueRef['of']; readonly optional: boolean },
  at: TextPlace,
): string | null {
  if (at === 'path' && optional)
    return `\`{${name}?}\`: a part of a path cannot be optional; write a request for each form`;
  if (ALLOWED[at].includes(of)) return null;
  const where: Readonly<Record<TextPlace, string>> = {
    base: 'a base URL may contain only settings',
    basic: 'user name and password must be settings',
    header: 'a header may not contain values of the delivery',
    path: 'a path may not contain the text',
    content: 'it is not available here',
    signature: 'a signature may use only settings and the timestamp',
    exchange: 'a token request may use only settings',
  };
  return `\`{${name}}\` is not allowed here: ${where[at]}`;
}
