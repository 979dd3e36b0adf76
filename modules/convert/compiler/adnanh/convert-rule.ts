/** Converts a trigger rule to authentication, event filters, and what hookwright cannot express. */
import type { NodePath } from '../../../../compiler/diagnostics/diagnostic.ts';
import { variableName } from '../conversion.ts';
import type { Draft, DraftRoute, Settings } from '../draft.ts';
import { asList, asMap, moveSecret } from '../foreign-value.ts';
import { CREDENTIAL_KEYS, CREDENTIAL_WORDS, EVENT_HEADERS, SHIPPED } from './built/names.ts';
import { callIn } from './go-template.ts';
import { fieldOf, isXmlPath, textOf } from './hook-value.ts';

const MAX_DEPTH = 60;

/** Converts a trigger rule. If a map has several of `and`, `or`, `not` and `match`, the original uses only the first. */
export function convertRule(rule: Settings, path: NodePath, context: RuleContext, depth = 0): TriggerCondition {
  if (depth > MAX_DEPTH) return gap(path, `the rule is nested deeper than ${MAX_DEPTH} levels`, 'Flatten it');
  const child = (value: unknown, at: NodePath): TriggerCondition => convertRule(asMap(value), at, context, depth + 1);
  const and = fieldOf(rule, 'and', path);
  if (and !== null) return all(asList(and.value).map((part, at) => conjunct(part, [...and.path, at], child)));
  const or = fieldOf(rule, 'or', path);
  if (or !== null)
    return any(
      asList(or.value).map((part, at) => child(part, [...or.path, at])),
      or.path,
      context,
    );
  const not = fieldOf(rule, 'not', path);
  if (not !== null) return negated(child(not.value, not.path), not.path);
  const match = fieldOf(rule, 'match', path);
  if (match !== null) return convertMatch(asMap(match.value), match.path, context);
  return gap(path, 'a rule without `and`, `or`, `not` or `match` never matches', 'Correct the rule, or remove it');
}

type Child = (value: unknown, path: NodePath) => TriggerCondition;

/** Inside `and`, a missing field makes the rule false, even if the field is inside `not`. */
function conjunct(part: unknown, path: NodePath, child: Child): TriggerCondition {
  const condition = child(part, path);
  const isNot = fieldOf(asMap(part), 'not', path) !== null && fieldOf(asMap(part), 'or', path) === null;
  const present = isNot ? condition.fields.map((field): TriggerFilter => ({ field, exists: true })) : [];
  return { ...condition, filters: [...present, ...condition.filters] };
}

const all = (parts: readonly TriggerCondition[]): TriggerCondition => ({
  auths: parts.flatMap(({ auths }) => auths),
  filters: parts.flatMap(({ filters }) => filters),
  gaps: parts.flatMap(({ gaps }) => gaps),
  fields: parts.flatMap(({ fields }) => fields),
});

function any(parts: readonly TriggerCondition[], path: NodePath, { soft }: RuleContext): TriggerCondition {
  const [first] = parts;
  if (first === undefined) return gap(path, 'an empty `or` never matches', 'Correct the rule, or remove it');
  const gaps = parts.flatMap((part) => part.gaps);
  if (gaps.length > 0) return { ...ALWAYS, gaps };
  // One part that always matches makes the whole rule match.
  const isOpen = parts.some(({ auths, filters }) => auths.length === 0 && filters.length === 0);
  const filters = isOpen || parts.some((part) => part.filters.length === 0) ? [] : [{ any: parts.map(oneFilter) }];
  if (parts.every(({ auths }) => auths.length === 0)) return { ...ALWAYS, filters };
  const [auth] = first.auths;
  const single = parts.every(({ auths }) => auths.length === 1);
  const same = single && auth !== undefined && parts.every((part) => sameAuth(auth, part.auths[0] as Auth));
  if (same) return { ...ALWAYS, auths: [auth], filters };
  const bare = parts.every((part) => part.filters.length === 0);
  const rotation =
    single && bare && auth !== undefined && parts.every((part) => sameScheme(auth, part.auths[0] as Auth));
  if (rotation && (soft || auth.verify === 'token'))
    return { ...ALWAYS, auths: [{ ...auth, secrets: parts.flatMap((part) => part.auths[0]?.secrets ?? []) }] };
  if (rotation)
    return gap(
      path,
      'without `trigger-signature-soft-failures`, adnanh/webhook accepts only the first of these secrets',
      'List the accepted ones under `secrets`',
    );
  const instead = 'Create a route for each authentication method, with its filters';
  return gap(path, 'a route has one authentication method for all senders, not alternatives', instead);
}

const oneFilter = ({ filters }: TriggerCondition): TriggerFilter => {
  const [first] = filters;
  return filters.length === 1 && first !== undefined ? first : { all: filters };
};

function negated(condition: TriggerCondition, path: NodePath): TriggerCondition {
  if (condition.gaps.length > 0) return condition;
  const instead = 'Invert the rule, so that it states what the sender must have';
  if (condition.auths.length > 0) return gap(path, 'the rule accepts senders that do not know the secret', instead);
  if (condition.filters.length === 0) return gap(path, 'it never matches', 'Correct the rule, or remove it');
  return { ...ALWAYS, filters: [{ not: oneFilter(condition) }], fields: condition.fields };
}

/** Properties of a hook that its filters depend on. */
interface RuleContext {
  /** Payload parameters that contain JSON as text. */
  readonly parsed: readonly string[];
  /** A signature mismatch does not end an `or`. */
  readonly soft: boolean;
}

const HMAC = /^payload-(?:hmac|hash)-(sha1|sha256|sha512)$/;

/** Returns a gap if the match has no equivalent. */
function convertMatch(match: Settings, path: NodePath, context: RuleContext): TriggerCondition {
  const type = textOf(match, 'type') ?? '';
  const digest = HMAC.exec(type)?.[1];
  if (digest !== undefined) return convertHmac(match, path, `hmac-${digest}` as TriggerPrimitive);
  if (type === 'value' || type === 'regex') return convertComparison(match, path, type, context);
  if (type === 'ip-whitelist')
    return gap(
      path,
      'hookwright does not check the address of a sender',
      'Let the proxy in front of it accept only these addresses',
    );
  if (type === 'scalr-signature')
    return gap(path, 'the signed date has an unsupported format', 'Let a proxy in front of it check the signature');
  return gap(path, 'a match of an unknown type never matches', 'Correct its type');
}

function convertHmac(match: Settings, path: NodePath, verify: TriggerPrimitive): TriggerCondition {
  const parameter = asMap(fieldOf(match, 'parameter', path)?.value);
  const place = placeOf(parameter);
  const secret = fieldOf(match, 'secret', path);
  if (place === null)
    return gap(path, 'a signature is read from a header, the query or the payload', 'Name one of them');
  const text = textOf(match, 'secret') ?? '';
  if (text === '' || secret === null) return gap(path, 'without a secret, the rule never matches', 'Add the secret');
  return { ...ALWAYS, auths: [{ verify, place, secrets: [{ text, path: secret.path }] }] };
}

function placeOf(parameter: Settings): { readonly kind: 'header' | 'query' | 'json'; readonly name: string } | null {
  const name = textOf(parameter, 'name') ?? '';
  if (name === '') return null;
  switch (textOf(parameter, 'source')) {
    case 'header':
      return { kind: 'header', name };
    case 'url':
    case 'query':
      return { kind: 'query', name };
    case 'payload':
      return { kind: 'json', name };
    default:
      return null;
  }
}

function convertComparison(
  match: Settings,
  path: NodePath,
  type: 'value' | 'regex',
  context: RuleContext,
): TriggerCondition {
  const parameter = asMap(fieldOf(match, 'parameter', path)?.value);
  const source = textOf(parameter, 'source') ?? '';
  const name = textOf(parameter, 'name') ?? '';
  const place = placeOf(parameter);
  const expected = textOf(match, type) ?? '';
  if (place !== null && isCredentialName(place.kind === 'json' ? (name.split('.').at(-1) ?? '') : name)) {
    const instead = 'Use `source: bearer`, or a custom source with `verify: token` (docs/own-sources.md)';
    if (type === 'regex') return gap(path, 'secrets are compared as a whole, not with a regex', instead);
    if (expected === '') return gap(path, 'an empty secret does not authenticate', instead);
    const secret = { text: expected, path: fieldOf(match, 'value', path)?.path ?? path };
    return { ...ALWAYS, auths: [{ verify: 'token', place, secrets: [secret] }] };
  }
  if (source === 'request' && name.toLowerCase() === 'method' && type === 'value' && expected === 'POST') return ALWAYS;
  if (place === null || place.kind === 'query') {
    const what = place === null ? `\`${source}\`` : 'the query';
    return gap(
      path,
      `filters read the payload and headers, not ${what}`,
      'Make the sender put it into the payload or a header',
    );
  }
  if (place.kind === 'header') return comparison(`headers.${name}`, type, expected);
  return payloadComparison(name, path, { type, expected }, context);
}

function payloadComparison(
  name: string,
  path: NodePath,
  { type, expected }: { readonly type: 'value' | 'regex'; readonly expected: string },
  { parsed }: RuleContext,
): TriggerCondition {
  if (isXmlPath(name)) return gap(path, 'XML bodies are not supported', 'Make the sender send JSON');
  // `payload` as the only field of a form is parsed as JSON anyway.
  const inText = parsed.find((parameter) => parameter !== 'payload' && name.startsWith(`${parameter}.`));
  if (inText !== undefined)
    return gap(path, 'filters do not parse JSON inside a text of the payload', 'Parse it in a script (docs/routes.md)');
  if (!name.startsWith('root.')) return comparison(payloadField(name), type, expected);
  // The original names a list payload `root`; hookwright addresses it directly.
  const either = [name, name.slice('root.'.length)].map((field) => leaf(payloadField(field), type, expected));
  return { ...ALWAYS, filters: [{ any: either }], fields: [] };
}

/** Prefixes names that have another meaning in filters. */
const payloadField = (name: string): string =>
  /^(?:event|event_type|headers?|req(?:uest)?|body|query|params|trigger|steps)(?:\.|$)/.test(name)
    ? `payload.${name}`
    : name;

const comparison = (field: string, type: 'value' | 'regex', expected: string): TriggerCondition => ({
  ...ALWAYS,
  filters: [leaf(field, type, expected)],
  fields: [field],
});

function leaf(field: string, type: 'value' | 'regex', expected: string): TriggerFilter {
  if (type === 'regex') return { field, regex: expected };
  const other = field.startsWith('headers.') ? [] : otherForms(expected);
  return other.length === 0 ? { field, equals: expected } : { field, in: [expected, ...other] };
}

/** The original compares strings, so `5` also matches the number 5. Long numbers keep all digits. */
function otherForms(text: string): readonly unknown[] {
  if (text === 'true' || text === 'false') return [text === 'true'];
  const plain = text.replace(/(?<=\.\d*?)0+$|\.0+$/, '');
  if (/^-?(?:0|[1-9]\d{15,})$/.test(text)) return [BigInt(text)];
  return JSON_NUMBER.test(text) && String(Number(text)) === plain ? [Number(text)] : [];
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** A trigger rule, split into authentication, event filters, and conditions that hookwright cannot express. */
type TriggerFilter = Readonly<Record<string, unknown>>;

type TriggerPrimitive = 'hmac-sha1' | 'hmac-sha256' | 'hmac-sha512' | 'token';

/** The location of a signature or token in a request. */
interface AuthPlace {
  readonly kind: 'header' | 'query' | 'json';
  readonly name: string;
}

/** One check of a secret. */
interface Auth {
  readonly verify: TriggerPrimitive;
  readonly place: AuthPlace;
  readonly secrets: readonly TriggerSecret[];
}

interface TriggerSecret {
  readonly text: string;
  readonly path: NodePath;
}

/** A part of a rule without an equivalent. Dropping it would let the hook accept more requests than before. */
interface Gap {
  readonly path: NodePath;
  readonly reason: string;
  readonly instead: string;
}

/** Matches if all parts match. */
export interface TriggerCondition {
  readonly auths: readonly Auth[];
  readonly filters: readonly TriggerFilter[];
  readonly gaps: readonly Gap[];
  /** Fields that the original requires: if one is missing, its rule fails with an error and does not match, even inside `not`. */
  readonly fields: readonly string[];
}

export const ALWAYS: TriggerCondition = { auths: [], filters: [], gaps: [], fields: [] };

const gap = (path: NodePath, reason: string, instead: string): TriggerCondition => ({
  ...ALWAYS,
  gaps: [{ path, reason, instead }],
});

const sameScheme = (a: Auth, b: Auth): boolean =>
  a.verify === b.verify && a.place.kind === b.place.kind && a.place.name.toLowerCase() === b.place.name.toLowerCase();

const sameAuth = (a: Auth, b: Auth): boolean =>
  sameScheme(a, b) &&
  a.secrets.length === b.secrets.length &&
  a.secrets.every(({ text }, at) => text === b.secrets[at]?.text);

const WORDS = new Set(CREDENTIAL_WORDS.split(' '));
const KEYS = new Set(CREDENTIAL_KEYS.split(' '));

/** Decides by its name whether a parameter contains a secret: trigger rules compare tokens and branch names in the same way. */
function isCredentialName(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  return words.some(
    (word, at) => WORDS.has(word) || (word === 'key' && (words.length === 1 || KEYS.has(words[at - 1] ?? ''))),
  );
}

const SOURCES = new Map<string, string>(Object.entries(SHIPPED));

/** By source. */
export const eventHeaders = new Map<string, { readonly event: string; readonly delivery: string }>(
  Object.entries(EVENT_HEADERS),
);

/** Sets source and secrets of a route; moves literal secrets to variables. */
export function setAuth(draft: Draft, route: DraftRoute, auth: Auth): void {
  const prefix = prefixOf(auth);
  const source =
    prefix === ''
      ? (SOURCES.get(`${auth.verify} ${auth.place.kind} ${auth.place.name.toLowerCase()}`) ?? null)
      : 'bearer';
  route.settings.source = source ?? ownSource(draft, auth);
  if (source === null && auth.verify !== 'token') noteForm(route, auth);
  const references = auth.secrets.map((secret, at) =>
    reference(draft, route, { ...secret, text: secret.text.slice(prefix.length) }, at),
  );
  if (references.length > 1) route.settings.secrets = references;
  else [route.settings.secret] = references;
  if (source === 'github-sha1')
    route.report.changed(
      auth.secrets[0]?.path ?? route.path,
      'SHA-1 is kept, although GitHub signs with SHA-256 as well',
      'If GitHub is the sender, write `source: github`',
    );
}

function noteForm({ report, path, settings }: DraftRoute, { verify, secrets }: Auth): void {
  const digest = verify.replace('hmac-', '');
  report.changed(
    secrets[0]?.path.slice(0, -1) ?? path,
    `webhook accepts signatures with and without the prefix \`${digest}=\`, a source only one of these forms`,
    `If the log shows malformed_signature, change \`prefix\` at sources.${String(settings.source)}.signature`,
  );
}

/** `Authorization: Bearer <secret>`. */
function prefixOf({ verify, place, secrets }: Auth): string {
  const isHeader = place.kind === 'header' && place.name.toLowerCase() === 'authorization';
  return verify === 'token' && isHeader && secrets.every(({ text }) => text.startsWith('Bearer ')) ? 'Bearer ' : '';
}

/** Defines a source for one place and method. Routes with the same check share it. */
function ownSource({ config }: Draft, { verify, place }: Auth): string {
  config.sources ??= {};
  const sources = config.sources as Settings;
  const plain = place.name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const name = `${verify}-${place.kind}-${plain}`.replace(/-+$/, '').slice(0, 64);
  const at = { [place.kind]: place.name };
  const digest = verify.replace('hmac-', '');
  const isHub = /hub/i.test(place.name);
  sources[name] = {
    title: `${place.kind === 'json' ? 'Payload' : place.kind === 'query' ? 'Query' : 'Header'} ${place.name}`,
    verify,
    ...(verify === 'token'
      ? tokenPlace(place.kind, place.name)
      : { signature: hmacPlace(at, digest, isHub), encoding: 'hex', signed: '{body}' }),
    event: [{ json: 'event_type' }, { json: 'type' }],
  };
  return name;
}

/** The original accepts signatures with and without a prefix; a source accepts one form, and most senders omit the prefix. */
const hmacPlace = (at: Settings, digest: string, isHub: boolean): Settings =>
  isHub ? { ...at, split: ',', prefix: `${digest}=` } : at;

const tokenPlace = (kind: string, name: string): Settings =>
  kind === 'json' ? { signature: [{ json: name }, { form: name }] } : { signature: { [kind]: name } };

function reference(
  draft: Draft,
  { name: route, report }: DraftRoute,
  { text, path }: TriggerSecret,
  at: number,
): string {
  const call = callIn(text);
  const variable = variableName(route, at === 0 ? 'secret' : `secret_${at + 1}`);
  if (call === null) return moveSecret(draft, text, { path, report, variable });
  if (call.name === 'credential') {
    const reason = 'systemd credentials are files in a folder named after the unit';
    const instead = 'Use `file:/run/credentials/<unit>/<name>`, or put the secret into .env';
    report.changed(path, reason, instead);
  } else report.carried(path);
  if (call.name === 'cat') return `file:${call.argument}`;
  const name = call.name === 'getenv' ? call.argument : variableName(call.argument);
  draft.variables.set(name, null);
  return `env:${name}`;
}
