/**
 * The values of one piece of a delivery, and the templates that they fill, for everything that the HTTP driver sends.
 *
 * Templates are linked once: settings are the same for every delivery of a binding, so they become part of the text, and
 * a delivery only inserts its own few values.
 */
import type { OutputContent, ValueRef, ValueTemplate } from '../../../schemas/generated/types.ts';

export interface Values {
  readonly text: string;
  /** Content fields of the agent. */
  readonly content: OutputContent;
  /** chat_id, thread and the target's own fields; only those that are set. */
  readonly address: ReadonlyMap<string, string>;
  /** Named groups of the patterns of the address, and of the request's chat_id. */
  readonly match: ReadonlyMap<string, string>;
  readonly key: string;
  /** Marker of posts by hookwright; may be empty. */
  readonly marker: string;
  /** Hidden lines that end a post: the key, `series`, and the marker. */
  readonly marks: string;
  /** Id of the post that is replaced. */
  readonly found: string;
  /** Page of a list of earlier posts, 1-based. */
  readonly page: number;
  /** ISO 8601; nothing can have been posted earlier. May be empty. */
  readonly since: string;
  /** The commit that a post is about; empty: unknown. */
  readonly commit: string;
  /** The approval that buttons of the post answer; empty: it has no buttons. */
  readonly approval: string;
  readonly jwt: string;
  readonly installation: string;
  /** 1-based. */
  readonly piece: number;
  readonly pieces: number;
  readonly timestamp: string;
  readonly signature: string;
  readonly exchanged_token: string;
  /** See `DeliveryRequest`. */
  readonly route: string;
  readonly delivery_id: string;
  /** Time of the first attempt, RFC 3339. */
  readonly time: string;
  /** Headers of W3C Trace Context; empty without tracing. */
  readonly trace: Readonly<Record<string, string>>;
}

/** Empty values, as the base for those that are set. */
export const NO_VALUES: Values = {
  text: '',
  content: {},
  address: new Map(),
  match: new Map(),
  key: '',
  marker: '',
  marks: '',
  found: '',
  page: 1,
  since: '',
  commit: '',
  approval: '',
  jwt: '',
  installation: '',
  piece: 0,
  pieces: 0,
  timestamp: '',
  signature: '',
  exchanged_token: '',
  route: '',
  delivery_id: '',
  time: '',
  trace: {},
};

/** Sample values, to check whether a request can be built for an address. */
export const SOME_VALUES: Values = {
  ...NO_VALUES,
  ...Object.fromEntries(Object.entries(NO_VALUES).flatMap(([name, value]) => (value === '' ? [[name, 'x']] : []))),
  piece: 1,
  pieces: 1,
};

/** A delivery that cannot be made: a permanent failure, with a reason for the operator. */
export class DeliveryRefusal extends Error {
  override readonly name = 'DeliveryRefusal';
}

/** Values that have names; the others are members of `Values`. */
const NAMED: Readonly<Record<'content' | 'address' | 'match', (values: Values, name: string) => string | undefined>> = {
  // Values of the route take precedence over those of the agent.
  content: ({ address, content }, name) =>
    address.get(name) ?? (Object.hasOwn(content, name) ? plainText(content[name]) : undefined),
  address: (values, name) => values.address.get(name),
  match: (values, name) => values.match.get(name),
};

function readValue({ of, name }: ValueRef, values: Values): string {
  if (of === 'setting') return '';
  return of === 'content' || of === 'address' || of === 'match' ? (NAMED[of](values, name) ?? '') : String(values[of]);
}

/** Lists are joined by commas. */
const plainText = (value: OutputContent[string] | undefined): string | undefined =>
  Array.isArray(value) ? value.map(String).join(',') : value;

/** Encodes a value for its text, or hides it. */
type WriteValue = (value: string, ref: ValueRef) => string;

const asIs: WriteValue = (value) => value;

/** Shown in place of secrets. */
export const HIDDEN = '***';

/** Wraps a writer so that it writes secrets as `***`. */
export function hideSecrets(write: WriteValue = asIs): WriteValue {
  return (value, ref) => (ref.secret ? HIDDEN : write(value, ref));
}

/** The settings and the writer that templates are linked with. */
export interface FillScope {
  readonly settings: ReadonlyMap<string, string>;
  readonly write?: WriteValue;
}

/**
 * A constant text, or a function of the delivery's values. Null when an optional value is empty: then the field that holds
 * the text is left out. The function throws DeliveryRefusal when a required value is empty.
 */
export type Fill = string | null | ((values: Values) => string | null);

/** Links a template: inserts settings now and leaves the delivery's values open. */
export function linkFill(template: ValueTemplate, { settings, write = asIs }: FillScope): Fill {
  const parts: (string | ValueRef)[] = [];
  const add = (text: string): void => {
    const last = parts.at(-1);
    if (typeof last === 'string') parts[parts.length - 1] = last + text;
    else parts.push(text);
  };
  for (const segment of template) {
    const setting = segment.kind === 'value' && segment.of === 'setting' ? (settings.get(segment.name) ?? '') : '';
    if (segment.kind === 'text') add(segment.text);
    else if (segment.of !== 'setting') parts.push(segment);
    else if (setting !== '') add(write(setting, segment));
    else if (segment.optional) return null;
    else return () => refuse(segment);
  }
  const [only = ''] = parts;
  return parts.length < 2 && typeof only === 'string' ? only : (values) => join(parts, values, write);
}

/** The text for these values. */
export function fillWith(fill: Fill, values: Values): string | null {
  return typeof fill === 'function' ? fill(values) : fill;
}

function join(parts: readonly (string | ValueRef)[], values: Values, write: WriteValue): string | null {
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    const value = readValue(part, values);
    if (value !== '') text += write(value, part);
    else if (part.optional) return null;
    else return refuse(part);
  }
  return text;
}

function refuse(ref: ValueRef): never {
  throw new DeliveryRefusal(`the target requires ${nameOf(ref)}, which is empty or not set`);
}

function nameOf(ref: ValueRef): string {
  if (ref.of === 'address') return `a \`${ref.name}\` in deliver_extra`;
  if (ref.of === 'content') return `\`${ref.name}\`, which only an output can provide`;
  return ref.of === 'setting' ? `the setting \`${ref.name}\`` : `a value for \`${ref.name || ref.of}\``;
}
