/** Prints a captured request: described for people, as a curl command line, as a HAR file, or as the beginning of a test. */

import { isUtf8 } from 'node:buffer';
import type { ScalarTag } from 'yaml';
import { stringify } from 'yaml';
import { ExactNumber, readJson } from '../../../../base/exact-number.ts';
import { tryParseJson } from '../../../../base/files.ts';
import { INVISIBLE_ALONE } from '../../../../base/text.ts';
import { packageVersion } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { visible, withEscapedTexts, wrapBeside } from '../../../../cli/output/print.ts';
import { formatDuration } from '../../../../cli/output/table.ts';
import { nodeFiles } from '../../../../compiler/node/node-files.ts';
import type { OtherReason } from '../../../../runtime/intake/reason-codes.ts';
import type { Outcome } from '../../../../runtime/intake/reply.ts';
import type { VerifyReason } from '../../../../runtime/verify/verification.ts';
import { REASON_TEXTS } from '../../../../runtime/verify/verification.ts';
import type { KeptRequest } from '../../../../schemas/built/operations/types.ts';
import type { KeptEvent, KeptReason, TestCase } from '../../../../schemas/generated/types.ts';
import { sentHeaders } from '../../runtime/capture/requests.ts';
import type { FoundCause } from '../../runtime/causes/find-cause.ts';
import { BODY_MARKER, isMarker } from '../../runtime/removed.ts';
import { outcomeText } from '../explain/format-explanation.ts';
import { bodyOf } from '../explain/read-request.ts';
import type { TestedConfig } from '../test/load-tests.ts';
import { runTest } from '../test/run-tests.ts';
import { usualOf } from '../test/update-snapshots.ts';
import STEPS from './next-steps.json' with { type: 'json' };

const LABEL = 12;

/** `now`: Unix ms, for ages; `width`: see `wrapBeside`. */
interface Layout {
  readonly now: number;
  readonly width: number | undefined;
}

export function describeRequest(request: PrintableRequest, { now, width }: Layout): string[] {
  const step = nextStep(request);
  const facts = factsOf(request, now).filter((fact): fact is [string, string] => fact[1] !== null);
  return [
    ...facts.flatMap(([name, value]) => wrapBeside(name.padEnd(LABEL), visible(value), width)),
    '',
    ...request.headers.flatMap(([name, value]) => wrapBeside(`  ${visible(name)}: `, visible(value), width)),
    ...(step === null ? [] : ['', ...wrapBeside('next'.padEnd(LABEL), visible(step), width)]),
  ];
}

function factsOf(request: KeptRequest, now: number): readonly (readonly [string, string | null])[] {
  const { status, about, cause, scheme_label, verified, body_bytes, body } = request;
  const scheme = scheme_label ?? request.scheme;
  const captured =
    body === null ? (body_bytes === null ? 'not read' : `${body_bytes} bytes, not captured`) : `${body_bytes} bytes`;
  return [
    ['id', request.id],
    ['received', `${new Date(request.at).toISOString()} (${formatDuration(now - request.at)} ago)`],
    ['profile', request.profile === 'default' ? null : request.profile],
    ['route', request.route === '' ? null : request.route],
    ['request', `${request.method} ${request.path}`],
    ['body', captured],
    ['event', request.event === '' ? sentEvent(about) : request.event],
    ...(request.events ?? []).map((event, at) => [`event ${at}`, eventText(event)] as const),
    ['delivery id', request.delivery_id === '' ? null : request.delivery_id],
    ['signature', verified ? `valid (${scheme ?? 'none'})` : scheme === null ? null : `invalid (${scheme})`],
    ['answer', `${status} ${outcomeText(request)} in ${request.ms} ms`],
    ['decided by', request.stage === null ? null : `${request.stage}${detail(about)}`],
    ['why', why(request)],
    ['cause', cause === null ? null : `${cause.text}${cause.certain ? '' : ' (likely)'}`],
    ['delivery', request.dispatch_id],
    ['replay of', request.replay_of],
  ];
}

const eventText = ({ event, delivery_id, dispatch_id, ...answer }: KeptEvent): string =>
  `${event} ${delivery_id}: ${outcomeText(answer)}${dispatch_id === null ? '' : `, delivery ${dispatch_id}`}`;

function why({ reason, cause }: KeptRequest): string | null {
  if (reason === null || !Object.hasOwn(REASON_TEXTS, reason)) return null;
  const text = REASON_TEXTS[reason as VerifyReason];
  return cause?.text.startsWith(text) === true ? null : text;
}

function sentEvent(about: KeptReason | null): string | null {
  return about?.kind === 'signature' && about.sent.event !== null ? `${about.sent.event} (unverified)` : null;
}

function detail(about: KeptReason | null): string {
  switch (about?.kind) {
    case undefined:
      return '';
    case 'text':
      return `: ${about.text}`;
    case 'event':
      return `: accepts ${about.accepts.join(', ')}`;
    case 'filter':
      return `: ${about.at} is false: ${about.field} ${about.operator}, found ${about.found === 'missing' ? 'nothing' : `a ${about.found}`}`;
    case 'signature':
      return `: looked for ${about.looked_for.join(', ')}`;
  }
}

/** A captured request, and whether its route is a subscription, whose secret a command shows. */
export interface PrintableRequest extends KeptRequest {
  readonly isSubscription: boolean;
}

/** Texts with the placeholders of `fill`; null: there is nothing to do, or another table has the text. */
type Steps<Code extends string> = Readonly<Record<Code, string | null>>;

/** By cause of an invalid signature; docs/why-ignored.md explains each. */
export const CAUSES: Steps<VerifyReason | FoundCause> = STEPS.causes;
/** By reason of other refusals. */
const REASONS: Steps<OtherReason> = STEPS.reasons;
const OUTCOMES: Steps<Outcome> = STEPS.outcomes;

/** Returns null if there is nothing to do. */
export function nextStep(request: PrintableRequest): string | null {
  const { cause, reason, outcome, dispatch_id } = request;
  if (cause !== null) return fill(textOf(CAUSES, cause.code) ?? STEPS.causes.unknown, request);
  // The events of a batch have their own ids.
  const repeated = request.events?.find((event) => event.outcome === 'duplicate');
  if (outcome === 'duplicate' && repeated !== undefined)
    return fill(STEPS.outcomes.duplicate, { ...request, delivery_id: repeated.delivery_id });
  const text = textOf(REASONS, reason) ?? textOf(OUTCOMES, outcome);
  if (text !== null) return fill(text, request);
  return dispatch_id === null ? null : `see its run and deliveries: hookwright deliveries show ${dispatch_id}`;
}

const textOf = (texts: Steps<string>, code: string | null): string | null =>
  code !== null && Object.hasOwn(texts, code) ? (texts[code] ?? null) : null;

function fill(text: string, request: PrintableRequest): string {
  const { route, id, event, delivery_id } = request;
  const values: Readonly<Record<string, string>> = {
    route,
    id,
    event,
    delivery_id,
    secret: whereSecretIs(request),
    source: sourceLine(request),
    delivery: deliveryCommand(request),
    detail: detail(request.about),
  };
  // A step may name a placeholder of a prompt.
  return text.replace(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all);
}

const whereSecretIs = ({ route, isSubscription }: PrintableRequest): string =>
  isSubscription
    ? `\`hookwright webhook show ${route} --reveal\` shows the secret`
    : `the secret is the one that \`secret\` of route ${route} refers to, else \`secret\` of all routes`;

/** `set \`source: linear\`` if the headers identify the source. */
function sourceLine({ about }: PrintableRequest): string {
  const names = about?.kind === 'signature' ? about.other_sources : [];
  if (names.length === 0) return 'set `source:` (hookwright source list)';
  return `set ${names.map((name) => `\`source: ${name}\``).join(' or ')}`;
}

const deliveryCommand = ({ dispatch_id }: PrintableRequest): string =>
  dispatch_id === null ? 'hookwright doctor checks the target' : `hookwright deliveries show ${dispatch_id}`;

/** Headers that curl creates itself. */
const OWN: ReadonlySet<string> = new Set(['host', 'content-length', 'connection', 'transfer-encoding', 'expect']);

/** @param url URL of the gateway, without a path */
export function printCurl({ method, path, headers, body }: KeptRequest, url: string): string {
  const lines = sentHeaders(headers)
    .filter(([name]) => !OWN.has(name.toLowerCase()))
    .map(([name, value]) => `  -H ${quote(`${name}: ${value}`)}`);
  const bytes = Buffer.from(body ?? '', 'base64');
  const data = isUtf8(bytes)
    ? [`  --data-binary ${quote(bytes.toString('utf8'))}`]
    : [`  --data-binary @<(printf %s ${quote(body ?? '')} | base64 -d)`];
  return [`curl -X ${method} ${quote(url + path)}`, ...lines, ...(bytes.length === 0 ? [] : data)].join(' \\\n');
}

/** Characters that could control a terminal, or are invisible on it. */
const CONTROL = new RegExp(String.raw`(?![\t\n])${INVISIBLE_ALONE}`, 'gu');

function quote(text: string): string {
  if (text.search(CONTROL) < 0) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = text.replace(/[\\']/g, '\\$&').replace(CONTROL, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
  return `$'${escaped}'`;
}

export function printHar(request: KeptRequest): string {
  const headers = sentHeaders(request.headers);
  const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? 'localhost';
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const query = [...new URL(request.path, 'http://localhost').searchParams];
  const removed = removedPlaces(request, query);
  const entry = {
    startedDateTime: new Date(request.at).toISOString(),
    time: request.ms,
    request: {
      method: request.method,
      url: `http://${host}${request.path}`,
      httpVersion: 'HTTP/1.1',
      headers: headers.map(([name, value]) => ({ name, value })),
      queryString: query.map(([name, value]) => ({ name, value })),
      cookies: [],
      headersSize: -1,
      bodySize: request.body_bytes ?? 0,
      postData: { mimeType: type, ...postText(request.body) },
      comment: removed.length === 0 ? '' : `credentials were removed: ${removed.join(', ')}`,
    },
    response: { status: request.status, statusText: '', httpVersion: 'HTTP/1.1', headers: [], cookies: [] },
    cache: {},
    timings: { send: 0, wait: request.ms, receive: 0 },
    comment: `request ${request.id} of route ${request.route}: ${request.outcome}`,
  };
  const log = { version: '1.2', creator: { name: 'hookwright', version: packageVersion() }, entries: [entry] };
  return `${JSON.stringify({ log }, null, 2)}\n`;
}

/** Lists the places where a marker replaces a credential. */
function removedPlaces({ headers, body }: KeptRequest, query: readonly (readonly [string, string])[]): string[] {
  const names = (values: readonly (readonly [string, string])[]): string[] =>
    values.filter(([, value]) => isMarker(value)).map(([name]) => name);
  return [...names(headers), ...names(query).map((name) => `?${name}`), ...(lacksCredential(body) ? ['body'] : [])];
}

/** Whether a marker replaces a credential in the body. @param body in base64 */
export const lacksCredential = (body: string | null): boolean =>
  Buffer.from(body ?? '', 'base64').includes(BODY_MARKER);

function postText(body: string | null): { readonly text: string; readonly encoding?: 'base64' } {
  const bytes = Buffer.from(body ?? '', 'base64');
  return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { text: body ?? '', encoding: 'base64' };
}

/**
 * @param saved path of the file with the saved request, relative to the test file, and absolute; null: the payload is written
 *   into the test
 * @param script replaces the route's script, which is then not run
 * @throws CliError when the route is not in the configuration, or the payload is not JSON
 */
export async function printTest(
  request: KeptRequest,
  config: TestedConfig,
  saved: { readonly name: string; readonly folder: string } | null,
  script?: TestCase['script'],
): Promise<string> {
  const testInput = { ...testOf(request, saved?.name ?? null), ...(script === undefined ? {} : { script }) };
  const test = { ...testInput, expect: {} };
  const path = `${saved?.folder ?? '.'}/request.test.yaml`;
  const tests = { path, name: path, file: { tests: [test] }, tree: NO_PLACES, named: nodeFiles };
  const { found, failures } = await runTest({ tests, index: 0, test }, config);
  if (found === null) throw new CliError(failures[0]?.message ?? 'the test cannot be run');
  const expect = usualOf(found.explanation);
  const { came_at: _, ...timeless } = testInput;
  const needed = found.plan.max_age === null ? timeless : testInput;
  const file = { tests: [{ ...needed, expect }] };
  return stringify(file, { lineWidth: 0, customTags: (tags) => withEscapedTexts([AS_SENT, ...tags]) });
}

/** No position is ever printed. */
const NO_PLACES = {
  files: [],
  place: (): never => {
    throw new Error('a skeleton has no places');
  },
};

/** Numbers as they were sent, without quotes. */
const AS_SENT: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof ExactNumber,
  resolve: (text) => text,
  stringify: ({ value }) => String(value),
};

function testOf(request: KeptRequest, saved: string | null): Omit<TestCase, 'expect'> {
  const { route, event, outcome, id, at } = request;
  const name = `${event === '' ? 'request' : event} ${id} (was ${outcome})`;
  const came_at = new Date(at).toISOString();
  if (saved !== null) return { name, route, request: saved, came_at };
  const hasEvent = event !== '' && event !== 'unknown' && (request.events ?? []).length === 0;
  return { name, route, ...(hasEvent ? { event } : {}), payload: payloadOf(request), came_at };
}

function payloadOf(captured: KeptRequest): NonNullable<TestCase['payload']> {
  const { id } = captured;
  const payload = tryParseJson(bodyOf(captured).toString('utf8'), readJson);
  if (payload !== undefined) return payload as NonNullable<TestCase['payload']>;
  const hint = `save it beside the test: hookwright requests show ${id} --save ${id}.json --as-test`;
  throw new CliError(`the body of request ${id} is not JSON`, hint);
}
