/** Replaces credentials in a body that is kept, in whatever spelling they stand there. */

import { tryParseJson } from '../../../../base/try-parse-json.ts';
import { replaceInBytes } from '../../../../runtime/deliver/redact/redact.ts';
import type { KeptHead } from '../../../../runtime/intake/kept-request.ts';
import type { ParsedBody } from '../../../../runtime/intake/parse-body.ts';
import { parseBody } from '../../../../runtime/intake/parse-body.ts';
import { partsOf } from '../../../../runtime/verify/request.ts';
import type { LocatorPlan } from '../../../../schemas/generated/types.ts';
import { BODY_MARKER } from '../removed.ts';
import type { BodyCredentials } from './record.ts';

/** Shorter ones are not looked for: they are everywhere. */
const MIN_LENGTH = 4;
/** Deepest value that is searched. */
const MAX_DEPTH = 100;

/** Returns the body with a marker in the place of each credential; null when one would remain, or cannot be looked for. */
export function withoutBodyCredentials(
  body: Buffer,
  { method, path, headers }: Pick<KeptHead, 'method' | 'path' | 'headers'>,
  { places, format }: BodyCredentials,
): Buffer | null {
  if (places.length === 0 || body.length === 0) return body;
  const parse = (bytes: Buffer): ParsedBody => parseBody(partsOf(method, path, headers, bytes).headers, bytes, format);
  const found = credentialsIn(parse(body), places);
  if (found === null || [...found].some(({ length }) => length < MIN_LENGTH)) return null;
  if (found.size === 0) return body;
  const kept = replaceInBytes(body, [...found], BODY_MARKER);
  return credentialsIn(parse(kept), places)?.size === 0 ? kept : null;
}

/** The texts at these places; null when the body cannot be parsed. */
function credentialsIn(parsed: ParsedBody, places: readonly LocatorPlan[]): ReadonlySet<string> | null {
  if (parsed.payload === undefined) return null;
  const texts = places.flatMap((at) => valuesAt(parsed, at).flatMap((value) => [...textsAt(value, at.path, 0)]));
  return new Set(texts.filter((text) => text !== '' && !text.includes(BODY_MARKER)));
}

/** Of repeated fields each counts. */
function valuesAt({ payload, form }: ParsedBody, { in: place, name, path }: LocatorPlan): readonly unknown[] {
  if (place === 'json') return [payload, ...(form?.getAll(path.at(-1) ?? '') ?? []).map((text) => wrap(path, text))];
  if (place !== 'form') return [];
  const fields = form?.getAll(name) ?? [];
  return path.length === 0 ? fields : fields.map(tryParseJson);
}

/** A field as an object that has it at this path, if the path is one name. */
const wrap = ([name = '', ...rest]: readonly string[], text: string): unknown =>
  rest.length === 0 ? { [name]: text } : undefined;

/** Texts and numbers at a path, in which `*` is any key or index and `**` any number of them. */
function* textsAt(value: unknown, path: readonly string[], depth: number): Iterable<string> {
  const [key, ...rest] = path;
  if (key === undefined) {
    if (typeof value === 'string' || typeof value === 'number') yield String(value);
    return;
  }
  if (key === '**') yield* textsAt(value, rest, depth);
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
  if (key === '*' || key === '**') {
    for (const child of Object.values(value)) yield* textsAt(child, key === '*' ? rest : path, depth + 1);
  } else if (Object.hasOwn(value, key)) {
    yield* textsAt((value as Record<string, unknown>)[key], rest, depth + 1);
  }
}
