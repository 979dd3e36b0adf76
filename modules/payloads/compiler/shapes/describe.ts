/** Describes event forms, fields and values in messages. */
import { groupBy } from '../../../../base/group-by.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';
import type { FormSet } from './form-set.ts';
import type { Shape, ShapeNode, ShapeType, ShapeVariant } from './shape.ts';
import { ANY_EVENT } from './shape.ts';

const MAX_EVENTS = 3;
const MAX_ACTIONS = 4;

/** "`push` event", "`issues` event that is `opened`", "event of `github`"; used after "no". */
export const describeForms = (set: FormSet, source: string): string =>
  set.remember(`forms ${source}`, () => describe(set, source));

function describe({ shape, forms }: FormSet, source: string): string {
  const events = byEvent(forms);
  if (events.size > MAX_EVENTS || events.has(ANY_EVENT)) return `event of \`${source}\``;
  const [[event, few] = ['', []], ...others] = events;
  if (others.length > 0) return `${oneOf([...events.keys()])} event`;
  const actions = few.flatMap(({ action }) => action ?? []);
  const isAll = few.length === shape.variants.filter((form) => form.event === event).length;
  if (isAll || actions.length < few.length || actions.length > MAX_ACTIONS) return `\`${event}\` event`;
  return `\`${event}\` event that is ${oneOf(actions)}`;
}

/** "`issues` (`opened`, `edited`) and `push`". */
export function listForms(shape: Shape, forms: readonly ShapeVariant[]): string {
  const events = [...byEvent(forms)].map(([event, few]) => {
    const all = shape.variants.filter((form) => form.event === event).length;
    const actions = few.flatMap(({ action }) => action ?? []);
    if (few.length === all || actions.length === 0) return `\`${event}\``;
    return `\`${event}\` (${shortList(actions, MAX_ACTIONS)})`;
  });
  if (events.length <= MAX_EVENTS) return joined(events);
  return `${events.slice(0, MAX_EVENTS).join(', ')} and ${events.length - MAX_EVENTS} more`;
}

const joined = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;

/** "`a`, `b`, `c` and 4 more". */
export function shortList(words: readonly string[], most: number): string {
  if (words.length <= most) return words.map((word) => `\`${word}\``).join(', ');
  return `${words
    .slice(0, most - 1)
    .map((word) => `\`${word}\``)
    .join(', ')} and ${words.length - most + 1} more`;
}

const byEvent = (forms: readonly ShapeVariant[]): ReadonlyMap<string, readonly ShapeVariant[]> =>
  groupBy(forms, ({ event }) => event);

const NAMES: Readonly<Record<ShapeType, string>> = {
  string: 'a text',
  integer: 'a number',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
  object: 'an object',
  array: 'a list',
  any: 'anything',
};

/** "a text or a number". Null is omitted if there are other types. */
export function describeTypes(nodes: readonly ShapeNode[]): string {
  const types = new Set(nodes.flatMap(({ types: own }) => [...own]));
  if (types.size > 1) types.delete('null');
  const names = [...new Set([...types].map((type) => NAMES[type]))];
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

/** The value as it would be written in a config, shortened. */
export function printValue(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}

const MAX_LENGTH = 60;
