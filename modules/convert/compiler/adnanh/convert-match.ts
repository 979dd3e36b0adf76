/** Converts one `match` of a trigger rule to authentication or to a filter. */
import type { NodePath } from '../../../../compiler/diagnostics/problem.ts';
import type { Settings } from '../draft.ts';
import { asMap } from '../foreign-value.ts';
import type { TriggerCondition, TriggerFilter, TriggerPrimitive } from './condition.ts';
import { ALWAYS, gap } from './condition.ts';
import { isCredentialName } from './credential-name.ts';
import { fieldOf, isXmlPath, textOf } from './hook-value.ts';

/** Properties of a hook that its filters depend on. */
export interface RuleContext {
  /** Payload parameters that contain JSON as text. */
  readonly parsed: readonly string[];
  /** A signature mismatch does not end an `or`. */
  readonly soft: boolean;
}

const HMAC = /^payload-(?:hmac|hash)-(sha1|sha256|sha512)$/;

/** Returns a gap if the match has no equivalent. */
export function convertMatch(match: Settings, path: NodePath, context: RuleContext): TriggerCondition {
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
    return gap(path, 'its date has a format that no scheme supports', 'Let a proxy in front of it check the signature');
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
    const instead = 'Use `source: bearer`, or a source of your own with `verify: token` (docs/own-sources.md)';
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

interface Expected {
  readonly type: 'value' | 'regex';
  readonly expected: string;
}

function payloadComparison(
  name: string,
  path: NodePath,
  { type, expected }: Expected,
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
  /^(?:event|event_type|headers)(?:\.|$)/.test(name) ? `payload.${name}` : name;

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

/** The original compares strings, so `5` also matches the number 5. */
function otherForms(text: string): readonly unknown[] {
  if (text === 'true' || text === 'false') return [text === 'true'];
  const number = Number(text);
  return text !== '' && Number.isFinite(number) && String(number) === text ? [number] : [];
}
