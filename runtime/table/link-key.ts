/**
 * Links a coalesce or session key. Its text identifies the list of its values: two different lists never render alike.
 *
 *     {a}:{b}   shop, eu      shop:eu        a value ends where the last `:` is, searched from the end
 *               x:y, z        x:y:z
 *               x, y:z        x:y%3Az        would be read as `x:y` and `z`, so the characters of the literal are encoded
 *     {a}{b}    1, 23         1%+23          values without a literal between them
 *
 * So a key stays as it was before values were encoded, except where two lists of values had the same text.
 */
import type { TemplatePlan } from '../../schemas/generated/types.ts';
import { percentEncode } from '../platform/ids.ts';
import type { Builtins, RenderTemplate } from './link-template.ts';
import { linkTemplate } from './link-template.ts';

export type RenderKey = (payload: unknown, builtins: Builtins) => string | null;

/** It renders to null if a placeholder does not resolve, because the event then has no entity (§3.2). An empty text is a value. */
export function linkKey(plan: TemplatePlan): RenderKey {
  const values: RenderTemplate[] = [];
  const literals = [''];
  for (const segment of plan) {
    if (segment.kind === 'text') literals.push((literals.pop() ?? '') + segment.text);
    else {
      values.push(linkTemplate([segment]));
      literals.push('');
    }
  }
  const [prefix = '', ...between] = literals;
  const suffix = between.pop() ?? '';
  const join = joinerOf(between);
  return (payload, builtins) => {
    const texts: string[] = [];
    for (const render of values) {
      const { text, unresolved } = render(payload, builtins);
      if (unresolved.length > 0) return null;
      texts.push(text);
    }
    return prefix + join(texts) + suffix;
  };
}

/** Not the code of a character, so that it cannot be confused with one. */
const NO_LITERAL = '%+';

/** @param between the literal before each value except the first */
function joinerOf(between: readonly string[]): (values: readonly string[]) => string {
  const encoded = new Set(['%', ...between.join('')]);
  const encode = (value: string): string =>
    Array.from(value, (character) => (encoded.has(character) ? percentEncode(character) : character)).join('');
  return ([first = '', ...others]) => {
    let text = first;
    // An encoded key has more `%` than its literals, any other key as many.
    let isClear = others.length === 0 || !first.includes('%');
    for (const [at, value] of others.entries()) {
      const literal = between[at] ?? '';
      const next = text + literal + value;
      isClear &&= literal !== '' && !value.includes('%') && next.lastIndexOf(literal) === text.length;
      text = next;
    }
    if (isClear) return text;
    return others.reduce((start, value, at) => start + (between[at] || NO_LITERAL) + encode(value), encode(first));
  };
}
