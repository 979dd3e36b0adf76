/** Lowers the texts of a target file, `Bearer {token}`, to segments, and checks that each place may hold what they name. */
import type { ValueRef, ValueSegment, ValueTemplate } from '../../../schemas/generated/types.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import { targetValue } from '../../rules/target-value.ts';
import type { TargetScope } from './scope.ts';

/**
 * Where a text stands. Host and headers are closed to everything that comes with a delivery, so that a stranger's
 * payload reaches neither; a path takes addresses, each encoded within its segment, but not the text.
 */
export type Place = 'base' | 'basic' | 'header' | 'path' | 'content' | 'signature' | 'exchange';

type Of = ValueRef['of'];

const ALLOWED: Readonly<Record<Place, readonly Of[]>> = {
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

/** Names that mean a value of the delivery itself. */
const BUILTIN: Readonly<Record<string, Of>> = {
  text: 'text',
  key: 'key',
  piece: 'piece',
  pieces: 'pieces',
  timestamp: 'timestamp',
  signature: 'signature',
  exchanged_token: 'exchanged_token',
};

/** Names no setting and no address field may take. */
export const RESERVED_NAMES: readonly string[] = [...Object.keys(BUILTIN), 'match'];

const PLACEHOLDER = /\{([a-z][a-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)(\?)?\}/g;

/** Braces around anything that is no name are text. */
export function lowerText(
  text: string,
  place: { readonly at: Place; readonly path: NodePath },
  scope: TargetScope,
): ValueTemplate {
  const segments: ValueSegment[] = [];
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [written, name = '', mark] = match;
    if (match.index > end) segments.push({ kind: 'text', text: text.slice(end, match.index) });
    end = match.index + written.length;
    const value = resolve(name, scope);
    const optional = mark === '?';
    const problem = value === null ? unknownName(name, scope) : misplaced(name, { of: value.of, optional }, place.at);
    if (problem !== null) {
      const within = { offset: match.index, length: written.length };
      scope.report({ rule: targetValue, path: place.path, at: 'value', within, message: problem });
    } else if (value !== null) {
      segments.push({ kind: 'value', ...value, optional });
    }
  }
  if (end < text.length) segments.push({ kind: 'text', text: text.slice(end) });
  return segments;
}

function resolve(name: string, scope: TargetScope): Pick<ValueRef, 'of' | 'name' | 'secret'> | null {
  if (name.startsWith('match.')) {
    const group = name.slice('match.'.length);
    return scope.groups.includes(group) ? { of: 'match', name: group, secret: false } : null;
  }
  const of = Object.hasOwn(BUILTIN, name) ? BUILTIN[name] : undefined;
  if (of !== undefined) {
    if (of === 'exchanged_token' && !scope.has.exchange) return null;
    if ((of === 'signature' || of === 'timestamp') && !scope.has.signature) return null;
    return { of, name: '', secret: of === 'exchanged_token' || of === 'signature' };
  }
  if (Object.hasOwn(scope.settings, name)) {
    return { of: 'setting', name, secret: scope.settings[name]?.secret === true };
  }
  if (name === 'chat_id' || name === 'thread' || Object.hasOwn(scope.address, name)) {
    return { of: 'address', name, secret: false };
  }
  return null;
}

function unknownName(name: string, scope: TargetScope): string {
  if (name === 'exchanged_token') return '`{exchanged_token}` needs an `exchange`';
  if (name === 'signature' || name === 'timestamp') return `\`{${name}}\` needs a \`signature\``;
  if (name.startsWith('match.')) return `\`{${name}}\` needs a group (?P<${name.slice(6)}>…) in \`when.chat_id\``;
  const known = [...Object.keys(scope.settings), 'chat_id', 'thread', ...Object.keys(scope.address), 'text', 'key'];
  return `\`{${name}}\` names no value; there are ${[...new Set(known)].join(', ')}`;
}

function misplaced(
  name: string,
  { of, optional }: { readonly of: Of; readonly optional: boolean },
  at: Place,
): string | null {
  if (at === 'path' && optional) return `\`{${name}?}\`: a path cannot be left out; write one request for each form`;
  if (ALLOWED[at].includes(of)) return null;
  const where: Readonly<Record<Place, string>> = {
    base: 'a base URL holds settings only',
    basic: 'a user name and a password are settings',
    header: 'a header holds nothing that comes with a delivery',
    path: 'the text has no place in a path',
    content: 'it has no place here',
    signature: 'a signature is made of settings and the timestamp',
    exchange: 'a token request holds settings only',
  };
  return `\`{${name}}\` may not stand here: ${where[at]}`;
}
