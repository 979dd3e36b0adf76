/**
 * A hookwright config under construction: converters fill it, then it is made to compile and printed as YAML with
 * comments.
 */

import type { Scalar, YAMLMap } from 'yaml';
import { Document, isMap, isScalar, isSeq, parseDocument, visit } from 'yaml';
import type { NodePath } from '../../../compiler/diagnostics/diagnostic.ts';
import type { ParsedFile } from '../../../compiler/source/parse-yaml.ts';
import type { Complaint, Conversion, ConversionReport, ConvertedRoute, Entry, KeyReport, Tools } from './conversion.ts';
import { createConversionReport, routeName } from './conversion.ts';

/** A hookwright config under construction: converters fill it, and `settle` makes it compile. */
export type Settings = Record<string, unknown>;

export interface DraftRoute extends Omit<ConvertedRoute, 'open'> {
  readonly settings: Settings;
  /** For the keys that it is converted from. */
  readonly report: KeyReport;
}

export interface Draft {
  /** Display name of the program whose config is converted. */
  readonly origin: string;
  /** Name of the foreign file. */
  readonly file: string;
  /** Everything except the routes, in printing order. */
  readonly config: Settings;
  readonly routes: DraftRoute[];
  /** Variables for `.env`; null if the value is unknown. */
  readonly variables: Map<string, string | null>;
  readonly report: ConversionReport;
  /** Generates a secret for a route that had none. */
  readonly newSecret: Tools['newSecret'];
}

export function createDraft(origin: string, file: ParsedFile, newSecret: Tools['newSecret']): Draft {
  const report = createConversionReport(file);
  return { origin, file: file.source.name, config: {}, routes: [], variables: new Map(), report, newSecret };
}

/** @param kind what the original calls a route @param id its name there */
export function addRoute(draft: Draft, kind: string, id: string, path: NodePath): DraftRoute {
  const name = routeName(draft.routes, id);
  const route = { name, from: `${kind} ${id}`, path, settings: {}, report: draft.report.ofRoute(name) };
  draft.routes.push(route);
  return route;
}

/** The `platforms.webhook` of a draft, which will contain the routes. */
export function webhookOf({ config }: Draft): Settings {
  config.platforms ??= {};
  const platforms = config.platforms as Settings;
  platforms.webhook ??= { enabled: true };
  return platforms.webhook as Settings;
}

/**
 * Disables a route until someone has reviewed it. A route is closed if one of its checks cannot be converted: without that
 * check it would accept requests that the original rejected. Reports the key that was lost.
 */
export function closeRoute({ settings, report }: DraftRoute, path: NodePath, reason: string, instead: string): void {
  settings.enabled = false;
  report.lost(path, reason, instead);
}

/*
 * Makes a draft compile. Foreign programs accept things that the compiler rejects (a non-linear regex, a target that is not
 * set up). Each rejected key is removed and reported, and its route is closed, because the removed key may be a check.
 */

/** Removing a key may reveal another problem. Large drafts take two or three rounds. */
const MAX_ROUNDS = 12;

/** Completes a conversion whose draft is filled. @throws Error if its config does not compile, which is a bug of the converter */
export function settle(draft: Draft, check: Tools['check'], rest: Pick<Conversion, 'programs' | 'notes'>): Conversion {
  const config = compilingText(draft, check);
  const routes = draft.routes.map(({ settings, report: _, ...route }) => ({
    ...route,
    open: settings.enabled !== false,
  }));
  return { config, variables: draft.variables, routes, entries: draft.report.entries(), ...rest };
}

function compilingText(draft: Draft, check: Tools['check']): string {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const config = printDraft(draft);
    const complaints = check(config);
    const errors = complaints.filter(({ severity }) => severity === 'error');
    if (errors.length === 0) return noteDropped(draft, config, complaints) ? printDraft(draft) : config;
    const document = parseDocument(config);
    const paths = errors.map((error) => ({ error, path: pathAt(document.contents, error.start) }));
    const removed = paths.filter(({ error, path }) => removeRejected(draft, path, error)).length;
    if (removed === 0) throw new Error(`the converted config does not compile: ${errors[0]?.message ?? ''}`);
  }
  throw new Error('the converted config does not compile even without all rejected keys');
}

const ROUTES = ['platforms', 'webhook', 'routes'];

/** Returns false if an earlier error of this round has already removed the key. */
function removeRejected(draft: Draft, path: readonly string[], { message }: Complaint): boolean {
  const inRoute = ROUTES.every((part, at) => path[at] === part);
  const route = inRoute ? draft.routes.find(({ name }) => name === path[3]) : undefined;
  return route === undefined ? removeSetting(draft, path, message) : removeKey(route, path[4], message);
}

function removeKey(route: DraftRoute, key: string | undefined, message: string): boolean {
  const { settings } = route;
  const taken = key === undefined || key === 'enabled' ? Object.keys(settings).filter(isDispensable) : [key];
  if (!taken.some((name) => Object.hasOwn(settings, name))) return false;
  for (const name of taken) delete settings[name];
  const at = key === undefined ? route.path : [...route.path, key];
  closeRoute(route, at, `hookwright rejects it: ${message}`, 'Correct it here, then remove `enabled: false`');
  return true;
}

/** Whether a route can do without the key. The converter itself writes the others. */
const isDispensable = (key: string): boolean => !['enabled', 'secret', 'secrets', 'source'].includes(key);

/** Removes a setting of the server or of a target, or the whole target if it lacks a required setting. */
function removeSetting(draft: Draft, path: readonly string[], message: string): boolean {
  const depth = path[0] === 'platforms' && path[1] !== 'webhook' ? 2 : Math.min(path.length, 3);
  const parent = path
    .slice(0, depth - 1)
    .reduce<unknown>((at, part) => (at as Settings | undefined)?.[part], draft.config);
  const key = path[depth - 1];
  if (key === undefined || typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key)) return false;
  delete (parent as Settings)[key];
  const instead = 'Set it up in hookwright.yaml (docs/targets.md), then enable the routes that need it';
  draft.report.lost(path.slice(0, depth), `hookwright rejects it: ${message}`, instead);
  return true;
}

const TOOLSETS: ReadonlySet<string> = new Set(['unknown-toolset', 'barred-toolset']);
const SPELLINGS: Readonly<Record<string, string>> = {
  'template-braces': 'its braces are not placeholders here, and are delivered unchanged',
  'foreign-path': 'it has a field that no payload has here',
};

/** Reports warnings about keys that will be ignored, and about texts with another meaning. Returns true if there were any. */
function noteDropped(draft: Draft, config: string, complaints: readonly Complaint[]): boolean {
  const dropped = complaints.filter(({ rule }) => TOOLSETS.has(rule) || Object.hasOwn(SPELLINGS, rule));
  const document = dropped.length === 0 ? null : parseDocument(config);
  const told = new Set<string>();
  for (const { rule, start, message } of dropped) {
    const path = pathAt(document?.contents, start);
    const route = draft.routes.find(({ name }) => name === path[3]);
    const spelling = SPELLINGS[rule];
    if (spelling !== undefined) {
      const key = path.slice(3).join('.');
      const instead = 'Run `hookwright lint`, which shows how to write it';
      if (!told.has(key)) route?.report.changed([...route.path, ...path.slice(4)], spelling, instead);
      told.add(key);
    } else if (route === undefined) draft.report.lost(path.slice(0, 2), message);
    else route.report.lost([...route.path, 'toolsets'], message);
  }
  return dropped.length > 0;
}

function pathAt(root: unknown, offset: number): readonly string[] {
  if (!isMap(root)) return [];
  const pair = (root as YAMLMap).items.findLast(({ key }) => isScalar(key) && (key.range?.[0] ?? 0) <= offset);
  if (pair === undefined || !isScalar(pair.key)) return [];
  return [String(pair.key.value), ...pathAt(pair.value, offset)];
}

/** Comments wrap at this column. */
const WIDTH = 100;

/** Prints a draft as YAML, with comments that state each route's origin and what differs from the original. */
function printDraft(draft: Draft): string {
  const { config, routes } = draft;
  // A Map keeps the order of numeric names; an object does not.
  webhookOf(draft).routes = new Map(routes.map(({ name, settings }) => [name, settings]));
  const document = new Document(config);
  document.commentBefore = comment([
    `Converted from ${oneLine(draft.file)}, a config of ${draft.origin}, by \`hookwright convert\`.`,
    'A route with `enabled: false` answers 403: read the comments above it before you remove that line.',
  ]);
  const entries = draft.report.entries();
  const { items } = document.getIn(['platforms', 'webhook', 'routes']) as YAMLMap<Scalar>;
  for (const [at, route] of routes.entries())
    if (items[at] !== undefined) items[at].key.commentBefore = comment(about(draft, route, entries));
  layOut(document);
  return document.toString({ lineWidth: 0, blockQuote: 'literal', flowCollectionPadding: false });
}

/** Prints lists of scalars, and maps of scalars in lists, on one line if they fit. */
function layOut(document: Document): void {
  visit(document, {
    Seq: (_, node) => {
      if (node.items.every(isScalar) && fits(node.items.map(({ value }) => value))) node.flow = true;
      for (const item of node.items)
        if (
          isMap(item) &&
          item.items.every(({ value }) => isScalar(value) || (isSeq(value) && value.items.every(isScalar)))
        )
          item.flow = fits(Object.values(item.toJSON() as object)) && !(item.items.length > 2);
    },
  });
}

/** Multi-line texts are printed as blocks. */
const fits = (values: readonly unknown[]): boolean => {
  const text = JSON.stringify(values, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
  return text.length < 90 && !text.includes('\\n');
};

function about({ file, report }: Draft, route: DraftRoute, entries: readonly Entry[]): readonly string[] {
  const differences = entries.filter((entry) => entry.route === route.name && entry.fate !== 'carried');
  return [
    `${oneLine(file)}:${report.placeOf(route.path).line}: ${oneLine(route.from)}`,
    ...differences.map((entry) => {
      const instead = entry.instead === '' ? '' : `. ${entry.instead}`;
      const key = entry.path.slice(route.path.length).join('.');
      return oneLine(`${entry.fate}: ${key === '' ? '' : `${key}: `}${entry.reason}${instead}`);
    }),
  ];
}

const comment = (lines: readonly string[]): string =>
  lines
    .flatMap((line) => wrap(line, WIDTH))
    .map((line) => ` ${line}`)
    .join('\n');

/** Foreign names may contain any character, but must not end a comment line. */
const oneLine = (text: string): string => text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');

/** Wraps text at spaces to lines of at most `width` characters. Continuation lines are indented. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = `  ${word}`;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
