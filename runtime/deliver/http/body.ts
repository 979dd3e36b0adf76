/** Builds request bodies from their plans: typed trees to JSON, named texts to forms. */
import type { BodyNode, BodyPlan, TextNode } from '../../../schemas/generated/types.ts';
import type { Values, WriteValue } from './values.ts';
import { DeliveryRefusal, fill, HIDDEN } from './values.ts';

export interface BuiltBody {
  readonly type: string | null;
  readonly text: string | null;
}

/** `write`: how values are written, to hide secrets where the request is only shown. */
export function buildBody(plan: BodyPlan, values: Values, write?: WriteValue): BuiltBody {
  switch (plan.kind) {
    case 'none':
      return { type: null, text: null };
    case 'json':
      return { type: 'application/json; charset=utf-8', text: JSON.stringify(buildNode(plan.node, values, write)) };
    case 'form':
      return { type: 'application/x-www-form-urlencoded', text: buildForm(plan.fields, values, write) };
    case 'plain':
      return { type: 'text/plain; charset=utf-8', text: fill(plan.value, values, write) ?? '' };
  }
}

function buildForm(fields: (BodyPlan & { kind: 'form' })['fields'], values: Values, write?: WriteValue): string {
  const form = new URLSearchParams();
  for (const { name, value } of fields) {
    const text = fill(value, values, write);
    if (text !== null) form.append(name, text);
  }
  return form.toString();
}

/** undefined: left out of the object or array that holds it. */
function buildNode(node: BodyNode, values: Values, write?: WriteValue): unknown {
  switch (node.kind) {
    case 'literal':
      return node.value;
    case 'text': {
      const text = fill(node.value, values, write);
      return text === null ? undefined : cast(text, node.cast);
    }
    case 'array':
      return node.items.map((item) => buildNode(item, values, write)).filter((item) => item !== undefined);
    case 'json': {
      const inner = buildNode(node.node, values, write);
      return inner === undefined ? undefined : JSON.stringify(inner);
    }
    case 'object': {
      if (node.when !== null && fill(node.when, values) === null) return undefined;
      const entries = node.fields.map(({ name, node: field }) => [name, buildNode(field, values, write)] as const);
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
    }
  }
}

const INTEGER = /^-?(?:0|[1-9]\d{0,15})$/;

function cast(text: string, as: TextNode['cast']): string | number {
  if (as === 'string' || text === HIDDEN) return text;
  const number = INTEGER.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  if (as === 'auto') return text;
  throw new DeliveryRefusal('an address or setting that must be an integer is none');
}
