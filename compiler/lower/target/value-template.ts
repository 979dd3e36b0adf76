/** Lowers texts of a target file (`Bearer {token}`) to segments, and checks that each value may be used in its place. */
import type { ValueRef, ValueSegment, ValueTemplate } from '../../../schemas/generated/types.ts';
import type { TextPlace } from '../../config/target-scope.ts';
import { BUILTIN } from '../../config/target-scope.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import { targetValue } from '../../rules/target-value.ts';
import type { TargetScope } from './scope.ts';

const PLACEHOLDER = /\{([a-z][a-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)(\?)?\}/g;

/** Braces around anything that is not a name are literal text. */
export function lowerText(
  text: string,
  place: { readonly at: TextPlace; readonly path: NodePath },
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
    const within = { offset: match.index, length: written.length };
    const problems = targetValue.check({ name, of: value?.of ?? null, optional, within }, place, scope);
    problems.forEach(scope.report);
    if (problems.length === 0 && value !== null) segments.push({ kind: 'value', ...value, optional });
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
