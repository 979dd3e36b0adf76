/** Puts values into a body for a scheme that carries its signature, token or instant there. */
import type { LocatorPlan, SchemePlan } from '../../schemas/generated/types.ts';

export class SignError extends Error {
  override readonly name = 'SignError';
}

export interface SignedPayload {
  readonly body: Buffer;
  /** Content type the body needs; null: JSON, or whatever it was. */
  readonly type: string | null;
}

const FORM = 'application/x-www-form-urlencoded';

/** The body with every value that belongs into it; header and query places are left to the caller. */
export function placeInBody(
  plan: SchemePlan,
  body: Buffer,
  placements: readonly (readonly [LocatorPlan, string | number])[],
): SignedPayload {
  const form = [...plan.signature, ...plan.event, ...plan.delivery].find((at) => at.in === 'form');
  const inside = placements.filter(([at]) => at.in === 'json' || at.in === 'form');
  if (form !== undefined) {
    const text = formField(body, form.name);
    const json = inside.length === 0 ? text : JSON.stringify(fill(text, inside));
    return { body: Buffer.from(new URLSearchParams({ [form.name]: json }).toString()), type: FORM };
  }
  if (plan.signed.some(({ kind }) => kind === 'params')) return { body: asForm(body), type: FORM };
  if (inside.length === 0) return { body, type: null };
  return { body: Buffer.from(JSON.stringify(fill(body.toString('utf8'), inside))), type: null };
}

/** JSON text of a form's field, or the body itself while it is not a form yet. */
function formField(body: Buffer, name: string): string {
  return new URLSearchParams(body.toString('utf8')).get(name) ?? body.toString('utf8');
}

/** A JSON object as form fields; anything else is taken to be a form already. */
function asForm(body: Buffer): Buffer {
  const text = body.toString('utf8');
  const value = parse(text);
  if (!isRecord(value)) return body;
  const fields = Object.entries(value).map(([name, field]): [string, string] => [
    name,
    typeof field === 'string' ? field : JSON.stringify(field),
  ]);
  return Buffer.from(new URLSearchParams(fields).toString());
}

function fill(text: string, placements: readonly (readonly [LocatorPlan, string | number])[]): unknown {
  const root = parse(text);
  if (!isRecord(root))
    throw new SignError('this scheme signs inside the body: the payload must be a JSON object or array');
  for (const [at, value] of placements) setAt(root, at.path, value);
  return root;
}

/** Makes the objects on the way; never walks into a prototype. */
function setAt(root: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let node = root;
  for (const key of path.slice(0, -1)) {
    const next = Object.hasOwn(node, key) ? node[key] : undefined;
    const child = isRecord(next) ? next : {};
    Object.defineProperty(node, key, { value: child, enumerable: true, configurable: true, writable: true });
    node = child;
  }
  const last = path.at(-1);
  if (last !== undefined)
    Object.defineProperty(node, last, { value, enumerable: true, configurable: true, writable: true });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
