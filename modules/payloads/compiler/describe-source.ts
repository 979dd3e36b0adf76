/** Describes how a source signs and sends, for `source show` and docs/sources.md. */

import { countSignedIds } from '../../../compiler/lower/source.ts';
import { printDuration } from '../../../compiler/rules/support/rule.ts';
import type { Locator, SchemePlan, SourceFile } from '../../../schemas/generated/types.ts';

const PRIMITIVES: Readonly<Record<SchemePlan['verify'], string>> = {
  'hmac-sha1': 'HMAC-SHA1',
  'hmac-sha256': 'HMAC-SHA256',
  'hmac-sha512': 'HMAC-SHA512',
  ed25519: 'Ed25519',
  'ecdsa-p256': 'ECDSA P-256',
  token: 'token',
  basic: 'HTTP Basic',
  none: 'nothing',
};

export const primitiveName = (verify: SchemePlan['verify']): string => PRIMITIVES[verify];

/** Only the last part of a path is shown. */
const JSON_PATH = /\{json:[^}]*\.([^.}]+)\}/g;

/** One line: the signed content, and the encoding and place of the signature. */
export function describeSignature(file: SourceFile): string {
  const places = describePlaces(listOf(file.signature));
  if (file.verify === 'none') return 'not signed';
  if (file.verify === 'basic') return 'HTTP Basic credentials in `Authorization`';
  if (file.verify === 'token') return `the secret itself in ${places}`;
  const signed = (file.signed ?? '').replace(JSON_PATH, '{json:…$1}');
  return `${PRIMITIVES[file.verify]} of \`${signed}\`, ${file.encoding ?? 'hex'}, in ${places}`;
}

const describePlaces = (places: readonly Locator[]): string => places.map(describePlace).join(', ');

function describePlace({ header, query, json, form, prefix }: Locator): string {
  const behind = prefix === undefined ? '' : ` behind \`${prefix}\``;
  if (header !== undefined) return `\`${header}\`${behind}`;
  if (query !== undefined) return `the query parameter \`${query}\`${behind}`;
  if (form !== undefined) return `the form field \`${form}\`${json === undefined ? '' : ` at \`${json}\``}${behind}`;
  return `the payload field \`${json ?? ''}\`${behind}`;
}

/** For a source that names no place: the places of §6, which docs/http.md lists. */
const USUAL_PLACES = 'the usual places';

/** Returns the place of the event type; empty if only the fields that are tried for every source apply. */
export function describeEvent(file: SourceFile): string {
  return namesNothing(file) ? USUAL_PLACES : inItem(file, describePlaces(listOf(file.event)));
}

/** Places of a batch begin in its items. */
const inItem = ({ each }: SourceFile, places: string): string =>
  each === undefined ? places : places.replaceAll('the payload field', `in each item of \`${each}\`, the field`);

/** Returns the place of the delivery id. A signed id has no alternatives. */
export function describeDelivery(file: SourceFile): string {
  const { id, delivery, delivery_digest } = file;
  if (namesNothing(file)) return USUAL_PLACES;
  const places = inItem(file, describePlaces(listOf(id ?? delivery)));
  if (delivery_digest === true) return places === '' ? 'a digest of the body' : `${places}, else a digest of the body`;
  return places === '' ? 'none' : places;
}

const namesNothing = ({ id, event, delivery, delivery_digest }: SourceFile): boolean =>
  event === undefined && delivery === undefined && id === undefined && delivery_digest !== true;

const HANDSHAKES = {
  echo: 'the response returns the challenge',
  reply: 'the response is a small JSON object',
  capture: 'the secret is captured by `hookwright source enroll`',
  ok: 'the response is 200',
} as const;

/** Describes how the sender verifies the URL; empty if it does not. */
export function describeHandshake({ challenges }: Pick<SchemePlan, 'challenges'>): string {
  const texts = challenges.map(({ kind, method, token }) => {
    const word = token === null ? '' : ', if its token matches `verify_token`';
    return `on \`${method}\`, ${HANDSHAKES[kind]}${word}`;
  });
  return [...new Set(texts)].join('; ');
}

/** What a person who has captured a request can do with it; empty if a signed time limits that. */
export function describeReplay(plan: SchemePlan): string {
  const { verify, timestamp, delivery_digest, replay_guard } = plan;
  if (timestamp !== null || verify === 'none') return '';
  if (verify === 'token' || verify === 'basic')
    return 'every request contains the secret: anyone who reads one can send any request';
  const isKnown = replay_guard !== undefined || delivery_digest || countSignedIds(plan) > 0;
  if (isKnown)
    return 'anyone who has intercepted a request can send it again once its delivery id is forgotten (`idempotency_ttl_seconds`)';
  return 'anyone who has intercepted a request can send it again under another delivery id; set `replay_guard: body` on the route against that';
}

/** Describes the places of credentials besides the signature; empty if there are none. */
export const describeCredentials = ({ credentials }: SourceFile): string => describePlaces(listOf(credentials));

/** Which events one request has, and whether it may have none; empty if it is one event with a body. */
export const describeBody = ({ each, max_batch, allow_empty }: SourceFile): string =>
  [
    ...(each === undefined
      ? []
      : [`each item of \`${each}\` is an event, at most ${max_batch ?? 'max_batch (1,000)'}`]),
    ...(allow_empty === true ? ['may be empty: the payload is `{}`'] : []),
  ].join('; ');

/** The responses in place of the usual JSON; empty if there are none. */
export const describeResponses = ({ respond = {} }: SourceFile): string =>
  Object.entries(respond)
    .map(
      ([outcome, { status, content_type: type }]) =>
        `${outcome}: ${[status, type].filter(Boolean).join(' ') || 'text'}`,
    )
    .join(', ');
const MIB = 2 ** 20;

/** Returns facts about how the source sends, one phrase each. */
export function describeSending({ sending }: SourceFile): string[] {
  if (sending === undefined) return [];
  const { attempts, horizon_seconds: horizon, deadline_seconds: deadline, burst_per_minute: burst } = sending;
  const { max_body_bytes: largest } = sending;
  return [
    ...(deadline === undefined ? [] : [`waits ${printDuration(deadline)} for an answer`]),
    ...retries(attempts, horizon),
    ...(burst === undefined ? [] : [`sends up to ${burst} requests a minute`]),
    ...(sending.burst === undefined ? [] : [`sends bursts (${sending.burst})`]),
    ...(largest === undefined ? [] : [`sends bodies of up to ${largest / MIB} MiB`]),
  ];
}

function retries(attempts: number | undefined, horizon: number | undefined): string[] {
  if (attempts === 1) return ['never retries'];
  const times = attempts === undefined ? '' : ` ${attempts - 1} time${attempts === 2 ? '' : 's'}`;
  if (horizon !== undefined)
    return [
      `retries${times} ${times === '' ? 'for' : 'within'} ${horizon > 7200 ? `about ${Math.round(horizon / 3600)} hours` : printDuration(horizon)}`,
    ];
  return times === '' ? [] : [`retries${times}`];
}

/** Returns the name of an example route for this source. */
export const exampleRoute = (source: string): string => (source.startsWith('my-') ? source : `my-${source}`);

/** An example route for this source, as YAML. */
export function routeSnippet(name: string, file: SourceFile, plan: Pick<SchemePlan, 'signed' | 'challenges'>): string {
  const variable = `${name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}_SECRET`;
  const asymmetric = file.verify === 'ed25519' || file.verify === 'ecdsa-p256';
  const captured = plan.challenges.some(({ kind }) => kind === 'capture');
  const lines = [
    'routes:',
    `  ${exampleRoute(name)}:`,
    `    source: ${name}`,
    captured
      ? `    secret: file:secrets/${name}`
      : asymmetric
        ? `    public_key: env:${variable.replace(/SECRET$/, 'PUBLIC_KEY')}`
        : `    secret: env:${variable}`,
    ...(plan.challenges.some(({ token }) => token !== null)
      ? [`    verify_token: env:${variable.replace(/SECRET$/, 'VERIFY_TOKEN')}`]
      : []),
    ...(plan.signed.some(({ kind }) => kind === 'url')
      ? ['    public_url: https://…  # the URL as entered at the sender']
      : []),
    ...(file.events === undefined ? [] : [`    events: [${file.events.slice(0, 2).join(', ')}]`]),
    ...(file.sending?.attempts === 1 ? ['    rate_limit: 300  # it sends bursts, and each event only once'] : []),
    '    prompt: …',
  ];
  return lines.join('\n');
}

const listOf = (value: Locator | Locator[] | undefined): readonly Locator[] => [value ?? []].flat();
