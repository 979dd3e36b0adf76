/** The values of one piece of a delivery, and texts filled with them, for everything the executor puts on the wire. */
import type { ValueRef, ValueTemplate } from '../../../schemas/generated/types.ts';

export interface Values {
  readonly text: string;
  /** chat_id, thread and the target's own fields; only those that are set. */
  readonly address: ReadonlyMap<string, string>;
  /** Named groups of the request's chat_id pattern. */
  readonly match: ReadonlyMap<string, string>;
  readonly settings: ReadonlyMap<string, string>;
  readonly key: string;
  /** 1-based. */
  readonly piece: number;
  readonly pieces: number;
  readonly timestamp: string;
  readonly signature: string;
  readonly exchanged_token: string;
}

/** Values of nothing, to be spread below those there are. */
export const NO_VALUES: Values = {
  text: '',
  address: new Map(),
  match: new Map(),
  settings: new Map(),
  key: '',
  piece: 0,
  pieces: 0,
  timestamp: '',
  signature: '',
  exchanged_token: '',
};

/** A delivery that cannot be made as it is: a permanent failure with a reason for the operator. */
export class DeliveryRefusal extends Error {
  override readonly name = 'DeliveryRefusal';
}

const READ: Readonly<Record<ValueRef['of'], (values: Values, name: string) => string | undefined>> = {
  text: (values) => values.text,
  address: (values, name) => values.address.get(name),
  match: (values, name) => values.match.get(name),
  setting: (values, name) => values.settings.get(name),
  key: (values) => values.key,
  piece: (values) => String(values.piece),
  pieces: (values) => String(values.pieces),
  timestamp: (values) => values.timestamp,
  signature: (values) => values.signature,
  exchanged_token: (values) => values.exchanged_token,
};

/** How a value is written into its text; `show` replaces secrets for people's eyes. */
export type WriteValue = (value: string, ref: ValueRef) => string;

const asIs: WriteValue = (value) => value;

/** The mark that stands for a secret wherever a request is shown. */
export const HIDDEN = '***';

/** Wraps a writer so that secrets come out as `***`. */
export function hideSecrets(write: WriteValue = asIs): WriteValue {
  return (value, ref) => (ref.secret ? HIDDEN : write(value, ref));
}

/**
 * The filled text; null when one of its optional values is empty: what holds it is then left out.
 * @throws DeliveryRefusal when a value it cannot do without is empty.
 */
export function fill(template: ValueTemplate, values: Values, write: WriteValue = asIs): string | null {
  let text = '';
  for (const segment of template) {
    if (segment.kind === 'text') {
      text += segment.text;
      continue;
    }
    const value = READ[segment.of](values, segment.name) ?? '';
    if (value === '') {
      if (segment.optional) return null;
      throw new DeliveryRefusal(`the target needs ${nameOf(segment)}, which is not set`);
    }
    text += write(value, segment);
  }
  return text;
}

function nameOf(ref: ValueRef): string {
  if (ref.of === 'address') return `a \`${ref.name}\` in deliver_extra`;
  return ref.of === 'setting' ? `the setting \`${ref.name}\`` : `a value for \`${ref.name || ref.of}\``;
}
