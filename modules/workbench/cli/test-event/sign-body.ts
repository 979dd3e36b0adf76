/** Inserts values into a body for a scheme with its signature, token or timestamp in the body. */

import { readJson, writeJson } from '../../../../base/exact-number.ts';
import { tryParseJson } from '../../../../base/files.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { setOwn } from '../../../../compiler/text/plain-data.ts';
import { isNested } from '../../../../runtime/table/value-set.ts';
import type { LocatorPlan, SchemePlan } from '../../../../schemas/generated/types.ts';

export class SignError extends CliError {
  override readonly name = 'SignError';
}

interface SignedPayload {
  readonly body: Buffer;
  /** Content type that the body needs; null: unchanged. */
  readonly type: string | null;
}

const FORM = 'application/x-www-form-urlencoded';

/** Inserts the values that belong in the body; header and query are the caller's. @throws SignError */
export function insertIntoBody(
  plan: SchemePlan,
  body: Buffer,
  placements: readonly (readonly [LocatorPlan, string | number])[],
): SignedPayload {
  const form = [...plan.signature, ...plan.event, ...plan.delivery].find((at) => at.in === 'form');
  const inside = placements.filter(([at]) => at.in === 'json' || at.in === 'form');
  if (form !== undefined) {
    const text = formField(body, form.name);
    const json = inside.length === 0 ? text : writeJson(fill(text, inside));
    return { body: Buffer.from(new URLSearchParams({ [form.name]: json }).toString()), type: FORM };
  }
  if (plan.signed.some(({ kind }) => kind === 'params')) return { body: asForm(body), type: FORM };
  if (inside.length === 0) return { body, type: null };
  return { body: Buffer.from(writeJson(fill(body.toString('utf8'), inside))), type: null };
}

/** The JSON text in a form field, or the body itself if it is not a form yet. */
function formField(body: Buffer, name: string): string {
  return new URLSearchParams(body.toString('utf8')).get(name) ?? body.toString('utf8');
}

/** Converts a JSON object to form fields; anything else is assumed to be a form already. */
function asForm(body: Buffer): Buffer {
  const value = tryParseJson(body.toString('utf8'), readJson);
  if (!isNested(value)) return body;
  const text = (field: unknown): string => (typeof field === 'string' ? field : writeJson(field));
  const fields = Object.entries(value).map(([name, field]) => [name, text(field)]);
  return Buffer.from(String(new URLSearchParams(Object.fromEntries(fields))));
}

function fill(text: string, placements: readonly (readonly [LocatorPlan, string | number])[]): unknown {
  const root = tryParseJson(text, readJson);
  if (!isNested(root))
    throw new SignError('this scheme signs inside the body: the payload must be a JSON object or array');
  for (const [at, value] of placements) setAt(root, at.path, value);
  return root;
}

/** Creates missing objects along the path; never follows a prototype. */
function setAt(root: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let node = root;
  for (const key of path.slice(0, -1)) {
    const next = Object.hasOwn(node, key) ? node[key] : undefined;
    const child = isNested(next) ? next : {};
    setOwn(node, key, child);
    node = child;
  }
  const last = path.at(-1);
  if (last !== undefined) setOwn(node, last, value);
}
