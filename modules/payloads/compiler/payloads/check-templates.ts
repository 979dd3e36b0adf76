/** Checks the placeholders of a route against the possible event forms. */

import type { Placeholder } from '../../../../compiler/config/grammar.ts';
import { lowerField, readPlaceholders } from '../../../../compiler/config/grammar.ts';
import type { RouteKey } from '../../../../compiler/config/route-keys.ts';
import { deliveryOf, EVENTS, keepsAll, ROUTE_KEYS } from '../../../../compiler/config/route-keys.ts';
import type { NodePath, Problem } from '../../../../compiler/diagnostics/diagnostic.ts';
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';
import type { RouteConfig } from '../../../../schemas/generated/types.ts';
import { describeForms, describeTypes, listForms } from '../shapes/describe.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { factsOfField, findPath } from '../shapes/form-set.ts';
import { isContainer } from '../shapes/shape.ts';
import { suggestPaths, textBelow } from '../shapes/suggest-path.ts';

/** A text that names fields of the payload. */
interface TemplatePlace {
  readonly text: string;
  readonly path: NodePath;
  /** Whether it must produce a plain text (an address, a key, a time), so that an object is a mistake. */
  readonly isText: boolean;
  /** A path without braces. */
  readonly isBare: boolean;
  /** `{events}` is the list of a burst there. */
  readonly hasEvents?: boolean;
}

/** Paths are relative to the route. */
export function checkTemplates(set: FormSet, config: RouteConfig): readonly Problem[] {
  return placesOf(config).flatMap((place) => checkPlace(set, place));
}

function placesOf(config: RouteConfig): readonly TemplatePlace[] {
  return Object.entries<RouteKey>(ROUTE_KEYS).flatMap(([key, { payload }]) =>
    payload === undefined ? [] : PLACES[payload](config, key as keyof RouteConfig),
  );
}

type FindPlaces = (config: RouteConfig, key: keyof RouteConfig) => readonly TemplatePlace[];

/** By how a key names fields. */
const PLACES: Readonly<Record<NonNullable<RouteKey['payload']>, FindPlaces>> = {
  template: (config, key) => {
    const { [key]: text } = config;
    if (typeof text !== 'string') return [];
    return [{ text, path: [key], isText: false, isBare: false, hasEvents: keepsAll(config) }];
  },
  // A job has its own addresses.
  templates: (config, key) => (config.cron_job === undefined ? addressPlaces(config[key], [key]) : []),
  outputs: ({ outputs = {} }) =>
    Object.entries(outputs).flatMap(([name, output]) =>
      addressPlaces(deliveryOf(output).deliver_extra, ['outputs', name]),
    ),
  session: ({ session_key: text }) =>
    text === undefined ? [] : [{ text, path: ['session_key'], isText: true, isBare: !text.includes('{') }],
  key: ({ coalesce }) =>
    coalesce === undefined
      ? []
      : [
          { text: coalesce.key, path: ['coalesce', 'key'], isText: true, isBare: !coalesce.key.includes('{') },
          ...(coalesce.each === undefined
            ? []
            : [{ text: coalesce.each, path: ['coalesce', 'each'], isText: false, isBare: false }]),
        ],
  // `payload.`, `headers.` and `event` read other places than the root.
  path: (config, key) => {
    const { [key]: text } = config;
    return typeof text === 'string' && isRootPath(text) ? [{ text, path: [key], isText: true, isBare: true }] : [];
  },
};

function isRootPath(text: string): boolean {
  const field = lowerField(text);
  return typeof field !== 'string' && field.in === 'root';
}

function addressPlaces(value: unknown, path: NodePath): readonly TemplatePlace[] {
  if (typeof value === 'string') return [{ text: value, path, isText: true, isBare: false }];
  return isPlainMap(value) ? Object.entries(value).flatMap(([key, each]) => addressPlaces(each, [...path, key])) : [];
}

function checkPlace(set: FormSet, place: TemplatePlace): readonly Problem[] {
  const { text, path, isText, isBare, hasEvents = false } = place;
  const placeholders = isBare ? readPlaceholders(`{${text}}`).map(withoutBraces) : readPlaceholders(text);
  const shown = (inner: string): string => (isBare ? inner : `{${inner}}`);
  return placeholders.flatMap(({ path: parts, offset, length }): readonly Problem[] => {
    if (hasEvents && `{${parts.join('.')}}` === EVENTS) return [];
    const at = { path, within: { offset, length } };
    const { nodes, isOpen } = factsOfField(set, { in: 'root', path: [...parts] });
    if (nodes.length === 0) return [unknownPath(set, { path: parts, text: parts.join('.'), shown }, at)];
    if (!isText || isOpen || !nodes.every(({ types }) => isContainer(types))) return [];
    const below = textBelow(set, parts);
    const better = below === null ? [] : [shown(below.join('.'))];
    const message = `\`${shown(parts.join('.'))}\` is ${describeTypes(nodes)}, not a text${suggestion(better)}`;
    return [{ rule: 'unknown-payload-path', at: 'value', ...at, message, ...onlyFix(better) }];
  });
}

const withoutBraces = (placeholder: Placeholder): Placeholder => ({ ...placeholder, length: placeholder.length - 2 });

/** Reports a path that no possible event form has: suggests similar paths, and names the events that have it. */
interface WrittenPath {
  readonly path: readonly string[];
  /** The path as written. */
  readonly text: string;
  /** Formats a path as it would be written there: with braces in a template. */
  readonly shown: (path: string) => string;
}

export function unknownPath(
  set: FormSet,
  { path, text, shown }: WrittenPath,
  place: Pick<Problem, 'path' | 'within'>,
): Problem {
  const meant = suggestPaths(set, path).map((each) => shown(each.join('.')));
  const hint = set.remember(`elsewhere ${path.join('.')}`, () => elsewhere(set, path));
  return {
    rule: 'unknown-payload-path',
    at: 'value',
    ...place,
    message: `no ${describeForms(set, set.shape.source)} has \`${text}\`${suggestion(meant)}`,
    ...(hint === null ? {} : { hint }),
    ...onlyFix(meant),
  };
}

/** To append to a message. */
export const suggestion = (meant: readonly string[]): string =>
  meant.length === 0 ? '' : `; did you mean ${oneOf(meant)}?`;

/** A fix, if there is exactly one candidate. */
export const onlyFix = ([first, ...others]: readonly string[]): Pick<Problem, 'fix'> =>
  first === undefined || others.length > 0 ? {} : { fix: { kind: 'rename', text: first } };

/** Names other forms that have the path, preferably forms of the same events that a filter excludes. */
function elsewhere({ shape, forms }: FormSet, path: readonly string[]): string | null {
  const has = shape.variants.filter(
    (form) => !forms.includes(form) && findPath(shape.graph, form.root, path).kind === 'node',
  );
  if (has.length === 0) return null;
  const events = new Set(forms.map(({ event }) => event));
  const same = has.filter(({ event }) => events.has(event));
  const shown = same.length > 0 ? same : has;
  return `the field is in ${listForms(shape, shown)}`;
}
