/** `hookwright source list`, `show` and `shape`: print the known senders, how they sign, and what they send. */

import { createPaint } from '../../../base/paint.ts';
import { printPath } from '../../../base/paths.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { argument, command, flag, optionalArgument, text } from '../../../cli/command-line/command.ts';
import { configOption, jsonOption } from '../../../cli/command-line/options.ts';
import { printJson, printLine, printNote, visible, wrapBeside } from '../../../cli/output/print.ts';
import type { Column } from '../../../cli/output/table.ts';
import { formatTable, printList } from '../../../cli/output/table.ts';
import type { OpenSource } from '../../../cli/sources/open-sources.ts';
import { openSources } from '../../../cli/sources/open-sources.ts';
import { routePath, tryOpenTable } from '../../../cli/subscriptions/routes.ts';
import { describeSecret, describeWindow, setupSteps } from '../../../compiler/sources/describe-source.ts';
import {
  describeBody,
  describeCredentials,
  describeDelivery,
  describeEvent,
  describeHandshake,
  describeReplay,
  describeResponses,
  describeSending,
  describeSignature,
  exampleRoute,
  primitiveName,
  routeSnippet,
} from '../compiler/describe-source.ts';
import { classify } from '../compiler/shapes/classify.ts';
import type { ListedPath } from '../compiler/shapes/describe.ts';
import { depthThatFits, listPaths, MAX_PATHS, shortList } from '../compiler/shapes/describe.ts';
import type { FormSet } from '../compiler/shapes/form-set.ts';
import type { LeafClass, ScalarValue } from '../compiler/shapes/shape.ts';
import type { OpenShape } from './payload-tools.ts';
import { openShape } from './payload-tools.ts';

/** `hookwright source list`: lists all sources, shipped and custom. */
export const sourceListCommand = command({
  options: { json: flag('Print the sources as JSON'), config: configOption },
  args: { word: optionalArgument('word') },
  async run(context, given) {
    const { sources } = await openSources(context, given.config);
    const word = given.word?.toLowerCase() ?? '';
    const shown = sources.filter(({ name, file }) =>
      [name, file.title ?? '', ...(file.aliases ?? [])].some((text) => text.toLowerCase().includes(word)),
    );
    printList(context, shown, {
      json: given.json,
      toJson: describeJson,
      columns: COLUMNS,
      empty: `no source has a name like "${word}"`,
    });
  },
});

/** Other names that a configuration may use. */
const otherNames = ({ file }: OpenSource): string => (file.aliases ?? []).join(', ');

const COLUMNS: readonly Column<OpenSource>[] = [
  { title: 'SOURCE', value: ({ name }) => name, whole: true },
  { title: 'SENDER', value: ({ file }) => file.title ?? '', wrap: true },
  { title: 'SIGNS WITH', value: ({ file }) => primitiveName(file.verify) },
  { title: 'WINDOW', value: ({ file }) => describeWindow(file) ?? '-' },
  { title: 'ALIASES', value: otherNames, whole: true },
];

function describeJson({ name, file, own }: OpenSource): unknown {
  const { title, aliases = [], docs = null, verify, timestamp, evidence = null } = file;
  return { name, title, aliases, docs, verify, window_seconds: timestamp?.tolerance ?? null, evidence, own };
}

/** `hookwright source show`: prints how one sender signs and sends, and how to connect it. */
export const sourceShowCommand = command({
  options: {
    events: flag('List the events that the source sends'),
    json: flag('Print the catalog entry as JSON'),
    config: configOption,
  },
  args: { name: argument('source') },
  async run(context, given) {
    const source = (await openSources(context, given.config)).find(given.name);
    if (given.json) printJson(context, { name: source.name, ...source.file });
    else {
      const url = await urlFor(context, source, given.config);
      for (const line of describe(context, source, { url, events: given.events })) printLine(context, line);
    }
  },
});

/** Returns the URL of the first route with this source; if there is none, of the route in the example. */
async function urlFor(
  context: CliContext,
  { name }: OpenSource,
  config: readonly string[] | undefined,
): Promise<string> {
  const open = await tryOpenTable(context, config).catch(() => null);
  const table = open?.table ?? null;
  const own = Object.values(table?.routes ?? {}).find(({ source }) => source === name);
  const base = table?.server.public_url ?? 'https://<your host>';
  return base.replace(/\/+$/, '') + routePath(own ?? { name: exampleRoute(name), profile: 'default' });
}

function describe(
  context: CliContext,
  source: OpenSource,
  { url, events }: { readonly url: string; readonly events: boolean },
): string[] {
  const { name, file, plan } = source;
  const paint = createPaint(context.colour.stdout);
  const others = otherNames(source);
  const aliases = others === '' ? '' : `, also called ${others}`;
  const rows: readonly (readonly [string, string | null])[] = [
    ['Signature', describeSignature(file)],
    ['Secret', describeSecret(file)],
    ['Window', describeWindow(file)],
    ['Event', describeEvent(file) || null],
    ['Delivery', describeDelivery(file)],
    ['Replay', describeReplay(plan) || null],
    ['Handshake', describeHandshake(plan) || null],
    ['Events', file.events === undefined || events ? null : `${file.events.length}; list them with --events`],
    ['Body', describeBody(file) || null],
    ['Responses', describeResponses(file) || null],
    ['Redacted', describeCredentials(file) || null],
    ['Sending', describeSending(file).join(', ') || null],
    ['Evidence', file.evidence ?? null],
    ['Docs', file.docs ?? null],
  ];
  const width = context.stdout.columns ?? USUAL_WIDTH;
  const indent = Math.max(...rows.map(([title]) => title.length)) + 2;
  const shown = rows.flatMap(([title, text]) =>
    text === null ? [] : wrapBeside(`${title}:`.padEnd(indent), visible(text), width),
  );
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', paint('bold', title), ...lines];
  return [
    `${paint('bold', visible(file.title ?? name))} (${name}${aliases})`,
    ...shown,
    ...list(
      'Events',
      file.events === undefined || !events ? [] : wrapBeside('  ', visible(file.events.join(', ')), width),
    ),
    ...list(
      'Notes',
      (file.notes ?? []).flatMap((note) => wrapBeside('  ', visible(note), width)),
    ),
    // Not wrapped, because it is copied.
    ...list(
      'In hookwright.yaml',
      routeSnippet(name, file, plan)
        .split('\n')
        .map((line) => `  ${visible(line)}`),
    ),
    ...list(
      'At the sender',
      setupSteps(file).flatMap((step, index) =>
        wrapBeside(`  ${index + 1}. `, visible(step.replaceAll('{url}', url)), width),
      ),
    ),
  ];
}

/** Width if stdout is not a terminal, in columns. */
const USUAL_WIDTH = 80;

const options = {
  prefix: text('prefix', 'Only paths that start with this'),
  json: jsonOption,
  config: configOption,
};

type Input = ValuesOf<typeof options>;

/** `hookwright source shape`: prints the fields of a sender's payloads by event. */
export const sourceShapeCommand = command({
  options,
  args: { source: argument('source'), event: optionalArgument('event') },
  async run(context, given) {
    const shape = await openShape(context, given.source, given.config);
    const { all } = shape;
    const events = [...new Set(all.forms.map((form) => form.event))];
    // A sender whose events have no names has a single list of paths.
    const event = given.event ?? (events.length === 1 ? events[0] : given.prefix === undefined ? undefined : '');
    if (event === undefined) printEvents(context, given, shape, events);
    else printPaths(context, given, event === '' ? all : shape.ofEvent(event));
  },
});

function printEvents(context: CliContext, given: Input, { all, ofEvent }: OpenShape, names: readonly string[]): void {
  const events = names.map((event) => {
    const forms = ofEvent(event);
    return { event, actions: forms.forms.flatMap(({ action }) => action ?? []), paths: listPaths(forms).length };
  });
  const { source, quality, from } = all.shape;
  if (given.json) {
    printJson(context, { source, quality, from, events });
    return;
  }
  const columns = [
    { title: 'EVENT', value: (row: (typeof events)[number]) => row.event, whole: true as const },
    { title: 'PATHS', value: (row: (typeof events)[number]) => row.paths, align: 'right' as const },
    { title: 'ACTIONS', value: (row: (typeof events)[number]) => row.actions.join(', ') },
  ];
  for (const line of formatTable(events, columns, context.stdout.columns)) printLine(context, line);
  const packages = from.map((origin) => `${origin.package} ${origin.version} (${origin.licence})`).join(', ');
  printNote(context, `${QUALITY[quality]}${packages === '' ? '' : `; from ${packages}`}`);
}

function printPaths(context: CliContext, given: Input, set: FormSet): void {
  const listed = listPaths(set, { prefix: given.prefix ?? '' });
  const rows = listed.map((each) => pathFacts(set, each));
  noteDepth(context, given, set);
  printList(context, rows, {
    json: given.json,
    columns: [
      { title: 'PATH', value: ({ path }) => path, whole: true },
      { title: 'TYPE', value: typeWords },
      { title: 'CLASS', value: classWords },
      { title: '', value: pathNotes },
    ],
    empty: `no path starts with ${given.prefix ?? ''}`,
  });
}

function noteDepth(context: CliContext, given: Input, set: FormSet): void {
  const depth = depthThatFits(set, given.prefix);
  if (depth === null) return;
  const parts = depth === 1 ? 'one part' : `${depth} parts`;
  const below = given.prefix === undefined ? '' : ' below the prefix';
  const why = `there are more than ${MAX_PATHS.toLocaleString('en')}`;
  printNote(context, `showing paths of up to ${parts}${below} (${why}); --prefix <path> shows deeper ones`);
}

const QUALITY = {
  exact: 'exact: the types the sender publishes for each event',
  good: 'good: complete, but partly inferred',
  partial: 'partial: some events or fields are missing, and routes are checked only for these events',
} as const;

/** Facts about a path of an event, for `source shape`. */
export interface PathFacts {
  readonly path: string;
  /** Names of JSON Schema types; `any`: unknown. */
  readonly types: readonly string[];
  /** Null: any value of the types. */
  readonly values: readonly ScalarValue[] | null;
  readonly format: string | null;
  /** Whether some payloads do not have it. */
  readonly optional: boolean;
  /** Whether it may contain more than is listed. */
  readonly open: boolean;
  /** The class of the value, see leaf-classes.ts; for an object or a list, the class of its contents. */
  readonly class: LeafClass;
  /** The author of free text, if known. */
  readonly written_by: string | null;
  /** Actions whose payloads have it; null: all forms of the event. */
  readonly actions: readonly string[] | null;
}

export function pathFacts(set: FormSet, { path, nodes, found }: ListedPath): PathFacts {
  const { forms } = set;
  const leaf = classify(set, path);
  const formats = new Set(nodes.map(({ format }) => format));
  const listed = nodes.every(({ values, types }) => values !== null || (types.size === 1 && types.has('null')));
  const has = forms.filter((_, index) => found[index]?.kind !== 'absent');
  const actions = has.flatMap(({ action }) => action ?? []);
  return {
    path: printPath(path),
    types: [...new Set(nodes.flatMap(({ types }) => [...types]))],
    values: listed ? [...new Set(nodes.flatMap(({ values }) => values ?? []))] : null,
    format: formats.size === 1 ? ([...formats][0] ?? null) : null,
    optional: found.some((each) => each.kind === 'absent' || (each.kind === 'node' && each.optional)),
    open: nodes.some(({ types, rest }) => types.has('any') || rest !== null),
    class: leaf.class,
    written_by: leaf.text?.review?.by ?? null,
    actions: has.length < forms.length && actions.length === has.length ? actions : null,
  };
}

/** Maximum number of values and actions shown; `--json` has them all. */
const MOST = 8;

/** Returns the class for people; empty for numbers, enums and objects, whose types are sufficient. */
export function classWords({ class: leafClass, types }: PathFacts): string {
  if (types.some((type) => type === 'object' || type === 'array')) return '';
  return leafClass === 'text' ? 'free text' : leafClass;
}

export const typeWords = ({ types }: PathFacts): string => types.join(' | ');

export function pathNotes(facts: PathFacts): string {
  const notes = [
    facts.written_by === null || classWords(facts) === '' ? '' : `by ${facts.written_by}`,
    facts.values === null || facts.values.length === 0
      ? ''
      : shortList(facts.values.map(String), MOST).replaceAll('`', ''),
    facts.format ?? '',
    facts.open && facts.types.includes('object') ? 'may have more fields' : '',
    facts.actions === null
      ? facts.optional
        ? 'optional'
        : ''
      : `only ${shortList(facts.actions, MOST).replaceAll('`', '')}`,
  ];
  return notes.filter((note) => note !== '').join('; ');
}
