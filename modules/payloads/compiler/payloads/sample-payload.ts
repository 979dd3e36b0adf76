/** Creates a sample payload for a route: the fields that its filters and templates read, with values that pass the filters. */

import { BUILTINS } from '../../../../compiler/config/grammar.ts';
import { setOwn } from '../../../../compiler/text/plain-data.ts';
import type { FieldPlan, FilterPlan, RoutePlan, TemplatePlan } from '../../../../schemas/generated/types.ts';
import { findPath } from '../shapes/form-set.ts';
import { factsOf } from '../shapes/operators.ts';
import type { Shape, ShapeNode, ShapeVariant } from '../shapes/shape.ts';
import { classByType } from '../shapes/shape.ts';

type Path = readonly string[];
type Sample = Record<string, unknown>;

/**
 * @param shape shape of the sender's payloads; null if unknown, so that values are guessed from field names
 * @param now the time of the event, where the route reads one; Unix ms
 */
export function samplePayload(
  plan: Pick<
    RoutePlan,
    'filters' | 'prompt' | 'deliver' | 'outputs' | 'on_failure' | 'coalesce' | 'session' | 'max_age'
  >,
  event: string | null,
  shape: Shape | null,
  now: number,
): Readonly<Record<string, unknown>> {
  const payload: Sample = {};
  if (plan.filters !== null) satisfy(plan.filters, payload);
  const form = shape === null ? null : chooseForm(shape, event, payload);
  if (shape?.action != null && form?.action != null) place(payload, shape.action, form.action);
  const nodeAt = (path: Path): ShapeNode | null => {
    if (shape === null || form === null) return null;
    const found = findPath(shape.graph, form.root, path);
    return found.kind === 'node' ? shape.graph.node(found.node) : null;
  };
  const time = plan.max_age?.time;
  if (time !== undefined && isPayload(time)) place(payload, time.path, sampleTime(nodeAt(time.path), now));
  for (const path of readPaths(plan)) place(payload, path, sampleValue(path, nodeAt(path)));
  return payload;
}

/** The event's form whose action passes the filters, else its first form. */
function chooseForm(shape: Shape, event: string | null, payload: Sample): ShapeVariant | null {
  const forms = shape.variants.filter((form) => event === null || form.event === event || form.event === '*');
  const action = shape.action?.reduce<unknown>((value, part) => (value as Sample | undefined)?.[part], payload);
  return forms.find((form) => form.action === action) ?? forms[0] ?? null;
}

/** All paths that templates read. */
function readPaths(plan: Parameters<typeof samplePayload>[0]): readonly Path[] {
  const { prompt, deliver, outputs = [], on_failure, coalesce, session } = plan;
  const deliveries = [...deliver, ...outputs.map(({ delivery }) => delivery), ...on_failure];
  const templates = [
    prompt,
    ...deliveries.flatMap(({ extra }) => Object.values(extra)),
    coalesce?.key ?? [],
    coalesce?.all?.each ?? [],
    session?.key ?? [],
  ];
  return templates.flatMap((template) => pathsIn(template, []));
}

/** @param around the element of the blocks around the template */
function pathsIn(template: TemplatePlan, around: Path): readonly Path[] {
  return template.flatMap((segment): readonly Path[] => {
    if (segment.kind !== 'each' && (segment.kind !== 'path' || isBuiltin(segment.path))) return [];
    const path = [...(segment.from === 'root' ? [] : around), ...segment.path];
    return segment.kind === 'each' ? pathsIn(segment.plan, [...path, '0']) : [path];
  });
}

/** Whether it is `{event_type}` or a similar placeholder. A payload key of that name would hide the built-in value. */
const isBuiltin = ([first = '', ...rest]: Path): boolean => rest.length === 0 && BUILTINS.has(first);

/** Sets values that make the filter pass, if they can be determined. */
function satisfy(filter: FilterPlan, payload: Sample): void {
  if ('where' in filter) {
    const element: Sample = {};
    satisfy(filter.where, element);
    if (isPayload(filter.field)) place(payload, filter.field.path, [element]);
  } else if (filter.kind !== 'leaf') {
    const members = { all: filter.filters, any: filter.filters.slice(0, 1), not: [] }[filter.kind];
    for (const member of members) satisfy(member, payload);
  } else if (isPayload(filter.field)) {
    const value = factsOf(filter.operator).sample(filter.value, sampleValue(filter.field.path, null));
    if (value !== undefined) place(payload, filter.field.path, value);
  }
}

const isPayload = ({ in: place }: FieldPlan): boolean => place === 'payload' || place === 'root';

const NUMBERS = /(?:^|_)(?:number|iid|count|amount|total|size)$/;

function sampleValue(path: Path, node: ShapeNode | null): unknown {
  const name = path.findLast((part) => !/^\d+$/.test(part)) ?? 'value';
  if (node === null) return NUMBERS.test(name) ? 1 : sampleText(name, /url$/i.test(name) ? 'url' : 'text');
  const { types, values } = node;
  if (values?.[0] !== undefined) return values[0];
  if (types.has('string')) return sampleText(name, node.format === 'date-time' ? 'date' : classByType(node, name));
  if (types.has('integer') || types.has('number')) return 1;
  if (types.has('boolean')) return true;
  return types.has('object') || types.has('array') ? undefined : sampleText(name, 'text');
}

/** In the form that the field has, else as ISO 8601. */
const sampleTime = (node: ShapeNode | null, now: number): unknown =>
  node?.types.has('integer') === true ? Math.floor(now / 1000) : new Date(now).toISOString();

function sampleText(name: string, kind: string): string {
  if (kind === 'url') return 'https://example.com/';
  if (kind === 'date') return '2026-01-01T00:00:00Z';
  if (name === 'full_name' || name === 'path_with_namespace') return 'example/test';
  if (/(?:^|_)e?mail$/.test(name)) return 'test@example.com';
  return `test ${name.replaceAll('_', ' ')}`;
}

/** Sets a value if it is not set yet. Does nothing if the path leads through a scalar. */
function place(payload: Sample, path: Path, value: unknown): void {
  const [first, ...rest] = path;
  if (value === undefined || first === undefined || path.includes('__proto__')) return;
  let map: Sample | unknown[] = payload;
  let key = first;
  for (const part of rest) {
    const found = valueAt(map, key);
    if (found !== undefined && (typeof found !== 'object' || found === null)) return;
    const below = found ?? (part === '0' ? [] : {});
    put(map, key, below);
    map = below as Sample | unknown[];
    key = part;
  }
  if (valueAt(map, key) === undefined) put(map, key, value);
}

const valueAt = (map: Sample | unknown[], key: string): unknown =>
  Array.isArray(map) ? map[Number(key)] : Object.hasOwn(map, key) ? map[key] : undefined;

/** Sets a key of a map, or the first element of a list. */
function put(map: Sample | unknown[], key: string, value: unknown): void {
  if (!Array.isArray(map)) setOwn(map, key, value);
  else if (key === '0') map[0] = value;
}
