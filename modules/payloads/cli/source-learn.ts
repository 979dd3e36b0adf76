/** `hookwright source learn`: infers the payload shapes of a custom source from requests that it has sent. */

import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Document } from 'yaml';
import { parseDocument, stringify } from 'yaml';
import { messageOf } from '../../../base/errors.ts';
import { groupBy } from '../../../base/group-by.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, UsageError } from '../../../cli/base/errors.ts';
import type { SavedRequest } from '../../../cli/base/module.ts';
import { loadPart } from '../../../cli/base/module.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { argument, command, flag, list, restArguments, text } from '../../../cli/command-line/command.ts';
import { configOption } from '../../../cli/command-line/options.ts';
import { refuseLinks } from '../../../cli/compile/refuse-links.ts';
import { printLine, printNote, withEscapedTexts } from '../../../cli/output/print.ts';
import type { OpenSource } from '../../../cli/sources/open-sources.ts';
import { openSources } from '../../../cli/sources/open-sources.ts';
import type { LoweredSource } from '../../../compiler/lower/sources.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import { displayPath } from '../../../compiler/source/files.ts';
import { expandGlob } from '../../../compiler/source/load-config.ts';
import { isPlainMap } from '../../../compiler/text/plain-data.ts';
import { UNKNOWN_EVENT } from '../../../runtime/intake/stages/decide.ts';
import { writeAtomic } from '../../../runtime/platform/files.ts';
import { LazyRequest, partsOf, readFirst } from '../../../runtime/verify/request.ts';
import type { KeptRequest } from '../../../schemas/built/operations/types.ts';
import { learnSchema, widenSchema } from '../compiler/shapes/learn-schema.ts';

const options = {
  from: list('path|glob', 'A saved request or payload; repeatable'),
  request: list('id', 'A captured request; repeatable'),
  route: text('name', 'All captured requests of this route'),
  out: text('dir', 'Write one file per event into this folder'),
  event: text('name', 'Only this event'),
  force: flag('Replace existing files instead of widening them'),
  config: configOption,
};
const args = { name: argument('source'), more: restArguments('file') };

type Input = ValuesOf<typeof options> & ValuesOf<typeof args>;

export const sourceLearnCommand = command({
  options,
  args,
  async run(context, given) {
    const captured = await readCaptured(context, given);
    const saved = await readSaved(context, given, captured === null);
    const events = groupBy([...saved, ...(captured ?? [])], ({ event }) => event);
    const taken = given.event === undefined ? [...events] : [...events].filter(([event]) => event === given.event);
    if (taken.length === 0)
      throw new CliError(`no request of the event "${given.event}"`, `events: ${[...events.keys()].join(', ')}`);
    if (given.out !== undefined) writeFiles(context, given, taken, given.out);
    else printOne(context, given, taken);
  },
});

/** Returns null if the command line names no captured requests. */
async function readCaptured(context: CliContext, { request, route }: Input): Promise<readonly LearnedRequest[] | null> {
  if (request === undefined && route === undefined) return null;
  const { read } = await loadPart(context.modules, 'kept');
  return (await read(context, { ids: request ?? [], route: route ?? null })).map(capturedPayload);
}

/** @throws UsageError if files are required and none is named; CliError if they cannot be read */
async function readSaved(context: CliContext, given: Input, isRequired: boolean): Promise<readonly LearnedRequest[]> {
  const { cwd } = context;
  const patterns = [...(given.from ?? []), ...given.more];
  if (patterns.length === 0 && isRequired)
    throw new UsageError(
      'source learn needs requests',
      'captured requests: --route <name>, or --request <id>',
      'saved requests: --from requests/*.json',
    );
  const files = [...new Set(patterns.flatMap((pattern) => filesOf(pattern, cwd)))];
  if (files.length === 0 && patterns.length > 0) throw new CliError(`no file matches ${patterns.join(' ')}`);
  if (files.length === 0) return [];
  const source = await findSource(context, given);
  const readRequests = await loadPart(context.modules, 'saved');
  return files.flatMap((file) =>
    withFileName(displayPath(file, context.cwd), () => readPayloads(readFileSync(file), source, readRequests)),
  );
}

/** Returns null for a source that is not yet defined. */
async function findSource(context: CliContext, given: Input): Promise<OpenSource | null> {
  const { sources } = await openSources(context, given.config);
  return sources.find(({ name }) => name === given.name) ?? null;
}

/** Runs `work`, and adds the file's name to its errors. */
function withFileName<Result>(file: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof CliError) throw new CliError(`${file}: ${error.message}`, ...error.hints);
    throw error;
  }
}

function printOne(context: CliContext, given: Input, [first, ...others]: readonly Event[]): void {
  if (first === undefined) return;
  if (others.length > 0) {
    const names = [first, ...others].map(([event]) => event).join(', ');
    throw new CliError(
      `the requests contain ${others.length + 1} event types: ${names}`,
      'write one file per event type with --out <dir>, or choose one with --event <name>',
    );
  }
  printLine(context, printSchema(given.name, first).trimEnd());
  printNote(context, `\n${usage(given.name, '<file>')}`);
}

function writeFiles(context: CliContext, given: Input, events: readonly Event[], out: string): void {
  const folder = resolve(context.cwd, out);
  refuseLinks(
    events.map(([event]) => join(folder, fileName(event, given.name))),
    [folder],
    'to use another folder: --out <dir>',
  );
  const files = events.map((event) => {
    const path = join(folder, fileName(event[0], given.name));
    const isThere = existsSync(path) && !given.force;
    const name = displayPath(path, context.cwd);
    return { event, path, text: isThere ? mergedText(path, name, event) : printSchema(given.name, event) };
  });
  for (const { path, text } of files) writeAtomic(path, text, 0o644);
  const shown = files.map(({ event: [event], path }) => [event, displayPath(path, context.cwd)] as const);
  const [[event, path] = ['', '']] = shown;
  printNote(context, `wrote ${shown.map(([, file]) => file).join(', ')}\n`);
  printNote(context, usage(given.name, shown.length === 1 && event === UNNAMED ? path : Object.fromEntries(shown)));
}

/** A schema that exists, widened; its comments and what was added to it stay. @throws CliError if it is not a schema */
function mergedText(path: string, name: string, [, requests]: Event): string {
  const document = parseDocument(readFileSync(path, 'utf8'));
  const before: unknown = document.errors.length > 0 ? null : document.toJS();
  if (!isPlainMap(before))
    throw new CliError(`${name} is not a JSON Schema: nothing was written`, 'replace it with --force');
  const after = requests.reduce((schema, { payload }) => widenSchema(schema, payload), before);
  update(document, [], before, after);
  // The first line counts the requests of the first call.
  return document
    .toString({ lineWidth: 120 })
    .replace(/^(#.* inferred from \d+ requests?)(?= by )/, '$1 and later ones');
}

function update(document: Document, path: readonly string[], before: unknown, after: unknown): void {
  if (isDeepStrictEqual(before, after)) return;
  if (!isPlainMap(before) || !isPlainMap(after)) {
    document.setIn(path, document.createNode(after));
    return;
  }
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) document.deleteIn([...path, key]);
  for (const [key, value] of Object.entries(after))
    update(document, [...path, key], Object.hasOwn(before, key) ? before[key] : undefined, value);
}

type Event = readonly [event: string, requests: readonly LearnedRequest[]];

/** @throws CliError for a glob that cannot be used */
function filesOf(pattern: string, cwd: string): readonly string[] {
  const files = expandGlob(nodeFiles, cwd, pattern);
  if (files instanceof Error) throw new CliError(files.message);
  return files;
}

const fileName = (event: string, source: string): string =>
  `${event === UNNAMED ? source : event.replace(/[^A-Za-z0-9._-]+/g, '-')}.yaml`;

function printSchema(source: string, [event, requests]: Event): string {
  const of = event === UNNAMED ? '' : `, event ${JSON.stringify(event)}`;
  const count = `${requests.length} request${requests.length === 1 ? '' : 's'}`;
  return [
    `# The payloads of ${source}${of}, inferred from ${count} by hookwright source learn. Review this file:`,
    '# once it lists every field, remove `complete: false`: a route that names another field gets a warning,',
    '# fields that are not `required` may be missing, and `enum` lists all values.',
    stringify(
      {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        complete: false,
        ...learnSchema(requests.map(({ payload }) => payload)),
      },
      { lineWidth: 120, customTags: withEscapedTexts },
    ),
  ].join('\n');
}

const usage = (source: string, shape: string | Readonly<Record<string, string>>): string =>
  `In the config:\n\n${stringify({ sources: { [source]: { shape } } }, { lineWidth: 120 })}`.trimEnd();

export interface LearnedRequest {
  readonly event: string;
  readonly payload: unknown;
}

/** The event name of payloads that do not name their event. */
export const UNNAMED = '*';

/** @param source distinguishes events as in a gateway; null: the payload alone does @throws CliError if the file is neither a payload nor a saved request */
export function readPayloads(
  bytes: Buffer,
  source: LoweredSource | null,
  readSaved: (bytes: Buffer) => readonly SavedRequest[],
): readonly LearnedRequest[] {
  const requests = isPayload(bytes) ? [{ label: '', parts: partsOf('POST', '/', [], bytes) }] : readSaved(bytes);
  return requests.map((capture) => {
    const request = new LazyRequest(capture.parts);
    const payload = request.payload();
    if (payload === undefined)
      throw new CliError(`a request has no readable body${capture.label === '' ? '' : `: ${capture.label}`}`);
    const named = source === null ? null : readFirst(source.plan.event, request, true);
    return { event: named ?? eventIn(payload) ?? UNNAMED, payload };
  });
}

/** Returns a captured request's payload, with the event that the gateway found. */
export function capturedPayload({ id, event, method, path, headers, body }: KeptRequest): LearnedRequest {
  const payload = new LazyRequest(partsOf(method, path, headers, Buffer.from(body ?? '', 'base64'))).payload();
  if (payload === undefined) throw new CliError(`the body of ${id} cannot be read`);
  return { event: event === '' || event === UNKNOWN_EVENT ? UNNAMED : event, payload };
}

/** Whether the bytes are JSON, but not a HAR file. */
function isPayload(bytes: Buffer): boolean {
  const start = bytes
    .subarray(0, 64)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  if (!start.startsWith('{') && !start.startsWith('[')) return false;
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8').replace(/^\ufeff/, ''));
  } catch (error) {
    throw new CliError(`not JSON: ${messageOf(error)}`);
  }
  const log = propertyOf(value, 'log');
  return propertyOf(log, 'entries') === undefined;
}

/** Returns the event from the fields that usually name it (§6.1). */
function eventIn(payload: unknown): string | null {
  const names = [propertyOf(payload, 'event_type'), propertyOf(payload, 'type')];
  return names.find((name): name is string => typeof name === 'string' && name !== '') ?? null;
}

const propertyOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
