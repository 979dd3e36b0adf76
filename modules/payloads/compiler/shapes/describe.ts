/** Describes event forms, fields and values in messages. */
import { groupBy } from '../../../../base/group-by.ts';
import { printPath } from '../../../../base/paths.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';
import type { FormSet, Level, PathMatch, PathTree } from './form-set.ts';
import type { Shape, ShapeNode, ShapeType, ShapeVariant } from './shape.ts';
import { ANY_EVENT } from './shape.ts';
import { treeOf } from './suggest-path.ts';

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
  const shown = words.length <= most ? words : words.slice(0, most - 1);
  const text = shown.map((word) => `\`${word}\``).join(', ');
  return shown === words ? text : `${text} and ${words.length - shown.length} more`;
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

/** Lists the paths of event forms, with their nodes, for `source shape` and editors. */
export interface ListedPath {
  readonly path: readonly string[];
  /** The path's nodes in the forms that have it. */
  readonly nodes: readonly ShapeNode[];
  /** The lookup result for each form of the set, in order. */
  readonly found: readonly PathMatch[];
}

interface PathSelection {
  /** Lists only paths that begin with this text. */
  readonly prefix?: string;
}

/** Maximum number of paths; mutually recursive types have millions. Deeper paths are omitted. */
export const MAX_PATHS = 10_000;

/** Lists parents before children. Does not follow a path that leads back to a node on it. */
export function listPaths(set: FormSet, { prefix = '' }: PathSelection = {}): readonly ListedPath[] {
  const tree = treeOf(set);
  const listed: ListedPath[] = [];
  const walk = (at: Step, left: number): void => {
    if (left === 0) return;
    for (const below of stepsFrom(tree, at, prefix)) {
      const { path, level } = below;
      if (path.join('.').startsWith(prefix))
        listed.push({ path, nodes: level.map((id) => set.shape.graph.node(id)), found: set.find(path) });
      if (below.isNew) walk(below, left - 1);
    }
  };
  walk(startOf(tree, prefix), depthThatFits(set, prefix) ?? Number.POSITIVE_INFINITY);
  return listed;
}

/** The maximum depth after the prefix at which there are at most `MAX_PATHS` paths; null if all fit. */
export function depthThatFits(set: FormSet, prefix = ''): number | null {
  const tree = treeOf(set);
  let frontier: readonly Step[] = [startOf(tree, prefix)];
  let count = 0;
  for (let depth = 0; frontier.length > 0; depth++) {
    const next: Step[] = [];
    for (const at of frontier) {
      const steps = stepsFrom(tree, at, prefix);
      count += steps.length;
      if (count > MAX_PATHS) return Math.max(depth, 1);
      next.push(...steps.filter(({ isNew }) => isNew));
    }
    frontier = next;
  }
  return null;
}

interface Step {
  readonly path: readonly string[];
  readonly level: Level;
  /** Keys of the levels on the path. */
  readonly above: ReadonlySet<string>;
  /** Whether it is not among those before it, so that the walk descends. */
  readonly isNew: boolean;
}

function startOf(tree: PathTree, prefix: string): Step {
  const path = prefix.split('.').slice(0, -1);
  const level = tree.below(tree.root, path);
  return { path, level, above: new Set([key(level)]), isNew: true };
}

/** The children that match the prefix or lead to it. */
function stepsFrom(tree: PathTree, at: Step, prefix: string): readonly Step[] {
  return [...tree.children(at.level)].flatMap(([name, level]): readonly Step[] => {
    const path = [...at.path, name];
    const text = printPath(path);
    if (!text.startsWith(prefix) && !prefix.startsWith(`${text}.`)) return [];
    return [{ path, level, above: new Set([...at.above, key(level)]), isNew: !at.above.has(key(level)) }];
  });
}

const key = (level: Level): string => level.join(' ');
