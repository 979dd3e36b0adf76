/** Reads `deliver` and `deliver_extra`: targets, and the address for each of them (§4.4). */
import type { TargetPlan } from '../../schemas/generated/types.ts';
import { isPlainMap } from '../text/plain-map.ts';
import type { TableContent } from './table-content.ts';

/** The two keys of a route or a job. */
export interface DeliveryConfig {
  readonly deliver?: string | readonly string[] | undefined;
  readonly deliver_extra?: DeliverExtra | undefined;
}

export type Scalar = string | number;

export type DeliverExtra = Readonly<Record<string, Scalar | Readonly<Record<string, Scalar>>>>;

/** Canonical target names by name and alias. */
export type TargetAliases = Readonly<Record<string, string>>;

/** The part of the table that deliveries are lowered against. */
export type KnownTargets = Pick<TableContent, 'targets' | 'target_names'>;

const DEFAULT_TARGET = 'log';

/** A target as written. `index` is its position in the list, or null if `deliver` is a single name. */
export interface WrittenTarget {
  readonly name: string;
  readonly index: number | null;
}

/** The names in `deliver`. The default is `log`. */
export function writtenTargets(deliver: DeliveryConfig['deliver']): readonly WrittenTarget[] {
  if (deliver === undefined) return [{ name: DEFAULT_TARGET, index: null }];
  return typeof deliver === 'string'
    ? [{ name: deliver, index: null }]
    : deliver.map((name, index) => ({ name, index }));
}

/** The canonical name, or null if the name is unknown. */
export const targetNamed = (names: TargetAliases, name: string): string | null =>
  Object.hasOwn(names, name) ? (names[name] ?? null) : null;

/** A target as written; `target` is its canonical name, null if the name is unknown. */
export interface RouteTarget extends WrittenTarget {
  readonly target: string | null;
}

/** The targets of a route or a job. */
export const namedTargets = (deliver: DeliveryConfig['deliver'], names: TargetAliases): readonly RouteTarget[] =>
  writtenTargets(deliver).map((written) => ({ ...written, target: targetNamed(names, written.name) }));

/** The values of `deliver_extra` for one target: the flat keys that it reads, overridden by those under the target's name. */
export function extraOf(extra: DeliverExtra, plan: TargetPlan, names: TargetAliases): ReadonlyMap<string, ExtraValue> {
  const values = new Map<string, ExtraValue>();
  const known = addressKeys(plan);
  for (const [key, value] of Object.entries(extra)) {
    if (!isPlainMap(value) && known.includes(key)) values.set(key, { text: String(value), path: [key] });
  }
  for (const [key, group] of Object.entries(extra)) {
    if (!isPlainMap(group) || targetNamed(names, key) !== plan.name) continue;
    for (const [name, value] of Object.entries(group)) values.set(name, { text: String(value), path: [key, name] });
  }
  return values;
}

/** The two names for a chat's thread (§2.1). */
export const THREAD_KEYS = ['message_thread_id', 'thread_id'];

/** The keys of `deliver_extra` that a target reads. */
export const addressKeys = (plan: TargetPlan): readonly string[] =>
  plan.address.flatMap(({ name }) => (name === 'thread' ? [...THREAD_KEYS] : [name]));

export interface ExtraValue {
  readonly text: string;
  /** Relative to `deliver_extra`. */
  readonly path: readonly string[];
}

/** Names that jobs accept besides targets. `origin`: the chat in which the job was created, else the profile's home channel. */
export const JOB_DELIVERIES: readonly string[] = ['origin'];
