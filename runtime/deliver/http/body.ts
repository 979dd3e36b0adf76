/** Links request bodies to functions that write them: typed trees as JSON, named texts as forms. */
import type { BodyNode, BodyPlan, TextNode } from '../../../schemas/generated/types.ts';
import type { FillScope, Values } from './values.ts';
import { DeliveryRefusal, fillWith, HIDDEN, linkFill } from './values.ts';

export interface LinkedBody {
  /** Content type; null without a body. */
  readonly type: string | null;
  readonly write: (values: Values) => string | null;
}

/** `write` throws DeliveryRefusal when a required value is empty; without a body it returns null. */
export function linkBody(plan: BodyPlan, scope: FillScope): LinkedBody {
  switch (plan.kind) {
    case 'none':
      return { type: null, write: () => null };
    case 'json': {
      const json = linkJson(plan.node, scope);
      return { type: 'application/json; charset=utf-8', write: (values) => jsonWith(json, values) ?? '' };
    }
    case 'form':
      return { type: 'application/x-www-form-urlencoded', write: linkForm(plan.fields, scope) };
    case 'plain': {
      const fill = linkFill(plan.value, scope);
      return { type: 'text/plain; charset=utf-8', write: (values) => fillWith(fill, values) ?? '' };
    }
  }
}

function linkForm(plans: (BodyPlan & { kind: 'form' })['fields'], scope: FillScope): LinkedBody['write'] {
  const fields = plans.map(({ name, value }) => ({ name, fill: linkFill(value, scope) }));
  return (values) => {
    const form = new URLSearchParams();
    for (const { name, fill } of fields) {
      const text = fillWith(fill, values);
      if (text !== null) form.append(name, text);
    }
    return form.toString();
  };
}

/** Constant JSON text, or a function of the values; undefined leaves it out of its parent. */
type Json = string | ((values: Values) => string | undefined);

const jsonWith = (json: Json, values: Values): string | undefined => (typeof json === 'function' ? json(values) : json);

function linkJson(node: BodyNode, scope: FillScope): Json {
  switch (node.kind) {
    case 'literal':
      return JSON.stringify(node.value);
    case 'text': {
      const fill = linkFill(node.value, scope);
      const { cast } = node;
      if (cast === 'list') return linkList(node);
      return (values) => {
        const text = fillWith(fill, values);
        return text === null ? undefined : CASTS[cast](text);
      };
    }
    case 'array':
      return linkArray(node.items.map((item) => linkJson(item, scope)));
    case 'object':
      return linkObject(node, scope);
    case 'json': {
      const inner = linkJson(node.node, scope);
      return (values) => {
        const text = jsonWith(inner, values);
        return text === undefined ? undefined : JSON.stringify(text);
      };
    }
  }
}

/** One content field, as it is; left out while it is empty. */
function linkList({ value: [only] }: TextNode): Json {
  const name = only?.kind === 'value' ? only.name : '';
  return ({ content }) => {
    const value = Object.hasOwn(content, name) ? content[name] : undefined;
    return value === undefined || value.length === 0 ? undefined : JSON.stringify(value);
  };
}

function linkArray(items: readonly Json[]): Json {
  if (items.every((item) => typeof item === 'string')) return `[${items.join(',')}]`;
  return (values) => `[${items.flatMap((item) => jsonWith(item, values) ?? []).join(',')}]`;
}

function linkObject(node: BodyNode & { kind: 'object' }, scope: FillScope): Json {
  const fields = node.fields.map((field) => ({
    name: `${JSON.stringify(field.name)}:`,
    json: linkJson(field.node, scope),
  }));
  const when = node.when === null ? '' : linkFill(node.when, scope);
  if (when === '' && fields.every(({ json }) => typeof json === 'string')) {
    return `{${fields.map(({ name, json }) => `${name}${String(json)}`).join(',')}}`;
  }
  return (values) => {
    if (fillWith(when, values) === null) return undefined;
    let text = '';
    for (const { name, json } of fields) {
      const value = jsonWith(json, values);
      if (value !== undefined) text += text === '' ? name + value : `,${name}${value}`;
    }
    return `{${text}}`;
  };
}

const INTEGER = /^-?(?:0|[1-9]\d{0,15})$/;
const isInteger = (text: string): boolean => INTEGER.test(text) && Number.isSafeInteger(Number(text));

const CASTS: Readonly<Record<Exclude<TextNode['cast'], 'list'>, (text: string) => string>> = {
  string: (text) => JSON.stringify(text),
  auto: (text) => (isInteger(text) ? text : JSON.stringify(text)),
  int: (text) => {
    if (isInteger(text)) return text;
    // In a request that is only shown, a secret number is hidden as text.
    if (text === HIDDEN) return JSON.stringify(text);
    throw new DeliveryRefusal('an address or setting that must be an integer is none');
  },
};
