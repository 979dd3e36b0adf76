/** Checks the placeholders of a route against the possible event forms. */

import { printPath } from '../../../../base/paths.ts';
import type { Placeholder } from '../../../../compiler/config/grammar.ts';
import { lowerField, readPlaceholders } from '../../../../compiler/config/grammar.ts';
import type { RouteKey } from '../../../../compiler/config/route-keys.ts';
import { deliveryOf, EVENTS, keepsAll, ROUTE_KEYS, sessionOf } from '../../../../compiler/config/route-keys.ts';
import type { NodePath, Problem } from '../../../../compiler/diagnostics/diagnostic.ts';
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';
import type { RouteConfig } from '../../../../schemas/generated/types.ts';
import { describeForms, describeTypes, listForms } from '../shapes/describe.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { factsOfField, findPath } from '../shapes/form-set.ts';
import { isContainer } from '../shapes/shape.ts';
import { slipOf, suggestPaths, textBelow } from '../shapes/suggest-path.ts';

type Path = readonly string[];

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
  session: (config) => {
    const session = sessionOf(config);
    if (session === null) return [];
    const { key: text, path } = session;
    return [{ text, path, isText: true, isBare: !text.includes('{') }];
  },
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
  const missing: Path[] = [];
  return placeholders.flatMap(({ path: parts, within: around, isList, offset, length }): readonly Problem[] => {
    // As it would be written there: in a block, from its element.
    const shown = (found: Path): string => {
      const isBelow = found.slice(0, around).every((part, index) => part === parts[index]);
      const relative = isBelow ? printPath(found.slice(around)) : `@root.${printPath(found)}`;
      return isBare ? relative : `{${isList ? '#each ' : ''}${relative === '' ? '.' : relative}}`;
    };
    if (hasEvents && around === 0 && `{${printPath(parts)}}` === EVENTS) return [];
    // In a block without a list, nothing else is wrong.
    if (missing.some((list) => around > list.length && list.every((part, index) => part === parts[index]))) return [];
    const at = { path, within: { offset, length } };
    const { nodes, isOpen } = factsOfField(set, { in: 'root', path: [...parts] });
    if (isList && !nodes.some(({ types }) => types.has('array') || types.has('any'))) missing.push(parts);
    if (nodes.length === 0) {
      const below = parts.slice(around);
      const isOfRoot = around > 0 && factsOfField(set, { in: 'root', path: below }).nodes.length > 0;
      const owner = around === 0 ? {} : { owner: `element of \`${printPath(parts.slice(0, around - 1))}\`` };
      const text = shown(parts).replace(/[{}]|#each /g, '');
      return unknownPath(set, { path: parts, text, shown, ...owner, ...(isOfRoot ? { meant: below } : {}) }, at);
    }
    if (isOpen || !set.shape.complete) return [];
    if (missing.includes(parts)) {
      const message = `\`${shown(parts)}\` repeats nothing: it is ${describeTypes(nodes)}, not a list`;
      return [{ rule: 'unknown-payload-path', at: 'value', ...at, message }];
    }
    if (isList || !isText || !nodes.every(({ types }) => isContainer(types))) return [];
    const below = textBelow(set, parts);
    const better = below === null ? [] : [shown(below)];
    const message = `\`${shown(parts)}\` is ${describeTypes(nodes)}, not a text${suggestion(better)}`;
    return [{ rule: 'unknown-payload-path', at: 'value', ...at, message }];
  });
}

const withoutBraces = (placeholder: Placeholder): Placeholder => ({ ...placeholder, length: placeholder.length - 2 });

/** Reports a path that no possible event form has: suggests similar paths, and names the events that have it. */
interface WrittenPath {
  readonly path: readonly string[];
  /** The path as written. */
  readonly text: string;
  /** Formats a path as it would be written there: with braces in a template. */
  readonly shown: (path: Path) => string;
  /** What lacks the path; default: the events. */
  readonly owner?: string;
  /** The path that is surely meant. */
  readonly meant?: Path;
}

/** A shape that is not complete may lack the field, so only a slip of the pen in a path that it has is worth a hint. */
export function unknownPath(
  set: FormSet,
  { path, text, shown, owner, meant: known }: WrittenPath,
  place: Pick<Problem, 'path' | 'within'>,
): readonly Problem[] {
  const problem = { rule: 'unknown-payload-path', at: 'value', ...place } as const;
  const slip = known ?? slipOf(set, path);
  const sure = slip === null ? null : shown(slip);
  if (!set.shape.complete)
    return sure === null
      ? []
      : [{ ...problem, severity: 'hint', message: `\`${text}\` may be a slip${suggestion([sure])}`, hint: LACKING }];
  const meant = sure === null ? suggestPaths(set, path).map(shown) : [sure];
  const hint = set.remember(`elsewhere ${printPath(path)}`, () => elsewhere(set, path));
  return [
    {
      ...problem,
      message: `no ${owner ?? describeForms(set, set.shape.source)} has \`${text}\`${suggestion(meant)}`,
      ...(hint === null ? {} : { hint }),
      ...(sure === null ? {} : { fix: { kind: 'rename', text: sure } }),
    },
  ];
}

const LACKING = 'the list of fields of this sender is not complete: if it has this one, nothing is wrong';

/** To append to a message. */
export const suggestion = (meant: readonly string[]): string =>
  meant.length === 0 ? '' : `; did you mean ${oneOf(meant)}?`;

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
