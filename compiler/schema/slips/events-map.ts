/** `events: { pull_request: [opened] }`: events with actions, as in workflow files. */
import { flowText } from '../../text/flow-text.ts';
import { isPlainMap } from '../../text/plain-map.ts';
import { typesOf } from '../alternatives.ts';
import { knownKeys } from '../known-keys.ts';
import { valueAt } from '../pointer.ts';
import { atValue } from '../shape-problem.ts';
import type { Slip } from './slip.ts';

export const eventsMap: Slip = (place, { keyword, params }) => {
  const found = valueAt(place.data, place.path);
  if (keyword !== 'type' || place.path.at(-1) !== 'events' || !isPlainMap(found)) return null;
  const route = valueAt(place.data, place.path.slice(0, -1));
  if (!typesOf(params).includes('array') || !isPlainMap(route)) return null;
  const lines = linesFor(found);
  const message = `\`events\` is a list of names: write ${lines.map((line) => `\`${line}\``).join(' and ')}`;
  const [, filters] = lines;
  const isCertain = filters === undefined || (Object.keys(found).length === 1 && route.filters === undefined);
  const fix = { kind: 'flow', text: namesIn(found), ...(filters === undefined ? {} : { andKey: filters }) } as const;
  const problem = { ...atValue(place, 'wrong-type', message), covers: [place.path] };
  return isCertain ? { ...problem, fix, fixAt: place.path } : problem;
};

/** `on: { pull_request: … }` */
export const eventsUnderOn: Slip = ({ schema, data, path }, { keyword, params }) => {
  const route = valueAt(data, path);
  if (keyword !== 'additionalProperties' || params.additionalProperty !== 'on' || !isPlainMap(route)) return null;
  const { on, events } = route;
  if (!isPlainMap(on) || events !== undefined || !knownKeys(schema, path).includes('events')) return null;
  const lines = linesFor(on).map((line) => `\`${line}\``);
  return {
    rule: 'unknown-key',
    path: [...path, 'on'],
    at: 'key',
    message: `unknown key \`on\`: write ${lines.join(' and ')}`,
    instead: 'events',
    ...(lines.length === 1 ? {} : { hint: 'actions are values of a field, and filters look at fields' }),
  };
};

const namesIn = (events: Readonly<Record<string, unknown>>): string => flowText(Object.keys(events));

/** The lines for the list of events, and for a filter on their actions. */
function linesFor(events: Readonly<Record<string, unknown>>): readonly string[] {
  const actions = [...new Set(Object.values(events).flatMap(actionsIn))];
  const filter = { field: 'action', ...(actions.length === 1 ? { equals: actions[0] } : { in: actions }) };
  return [`events: ${namesIn(events)}`, ...(actions.length === 0 ? [] : [`filters: ${flowText([filter])}`])];
}

function actionsIn(value: unknown): readonly string[] {
  const list = isPlainMap(value) ? value.types : value;
  const actions: readonly unknown[] = Array.isArray(list) ? list : [list];
  return actions.filter((action) => typeof action === 'string');
}
