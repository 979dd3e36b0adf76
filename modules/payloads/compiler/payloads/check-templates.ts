/** Checks the placeholders of a route against the possible event forms. */

import type { Placeholder } from '../../../../compiler/config/template-grammar.ts';
import { readPlaceholders } from '../../../../compiler/config/template-grammar.ts';
import type { NodePath, Problem } from '../../../../compiler/diagnostics/problem.ts';
import { isPlainMap } from '../../../../compiler/text/plain-map.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';
import type { RouteConfig } from '../../../../schemas/generated/types.ts';
import { describeTypes } from '../shapes/describe.ts';
import { factsOfField } from '../shapes/field-facts.ts';
import type { FormSet } from '../shapes/form-set.ts';
import type { ShapeNode, ShapeType } from '../shapes/shape.ts';
import { textBelow } from '../shapes/suggest-path.ts';
import { onlyFix, unknownPath } from './unknown-path.ts';

/** A template, or a coalesce key, which may be a bare path. */
interface TemplatePlace {
  readonly text: string;
  readonly path: NodePath;
  /** Whether it must produce a plain text (an address or a key), so that an object is a mistake. */
  readonly isText: boolean;
}

/** Paths are relative to the route. */
export function checkTemplates(set: FormSet, config: RouteConfig): readonly Problem[] {
  return placesOf(config).flatMap((place) => checkPlace(set, place));
}

function placesOf({ prompt, coalesce, cron_job, deliver_extra = {} }: RouteConfig): readonly TemplatePlace[] {
  return [
    ...(prompt === undefined ? [] : [{ text: prompt, path: ['prompt'], isText: false }]),
    ...(coalesce === undefined ? [] : [{ text: coalesce.key, path: ['coalesce', 'key'], isText: true }]),
    // A job has its own addresses.
    ...(cron_job === undefined ? addressPlaces(deliver_extra, ['deliver_extra']) : []),
  ];
}

function addressPlaces(value: unknown, path: NodePath): readonly TemplatePlace[] {
  if (typeof value === 'string') return [{ text: value, path, isText: true }];
  return isPlainMap(value) ? Object.entries(value).flatMap(([key, each]) => addressPlaces(each, [...path, key])) : [];
}

function checkPlace(set: FormSet, { text, path, isText }: TemplatePlace): readonly Problem[] {
  // Coalesce keys may be written without braces.
  const isBare = path[0] === 'coalesce' && !text.includes('{');
  const placeholders = isBare ? readPlaceholders(`{${text}}`).map(withoutBraces) : readPlaceholders(text);
  const shown = (inner: string): string => (isBare ? inner : `{${inner}}`);
  return placeholders.flatMap(({ path: parts, offset, length }): readonly Problem[] => {
    const place = { path, within: { offset, length } };
    const { nodes, isOpen } = factsOfField(set, { in: 'root', path: [...parts] });
    if (nodes.length === 0) return [unknownPath(set, { path: parts, text: parts.join('.'), shown }, place)];
    if (!isText || isOpen || !nodes.every(isContainer)) return [];
    const below = textBelow(set, parts);
    const better = below === null ? [] : [shown(below.join('.'))];
    const meant = better.length === 0 ? '' : `; did you mean ${oneOf(better)}?`;
    const message = `\`${shown(parts.join('.'))}\` is ${describeTypes(nodes)}, not a text${meant}`;
    return [{ rule: 'unknown-payload-path', at: 'value', ...place, message, ...onlyFix(better) }];
  });
}

/** Whether the value is always an object, a list or null. */
const isContainer = ({ types }: ShapeNode): boolean =>
  (types.has('object') || types.has('array')) && [...types].every((type) => CONTAINERS.has(type));

const CONTAINERS: ReadonlySet<ShapeType> = new Set<ShapeType>(['object', 'array', 'null']);

const withoutBraces = (placeholder: Placeholder): Placeholder => ({ ...placeholder, length: placeholder.length - 2 });
