/**
 * Resolves the address of a delivery (§4.4): `chat_id` of deliver_extra, else the profile's home channel; the thread;
 * the target's own fields. Values may come from an untrusted payload, so each is checked before it is used.
 */
import { RE2JS } from 're2js';
import { own } from '../../base/names.ts';
import type { AddressPlan } from '../../schemas/generated/types.ts';
import type { Addressed, DeliveryRequest } from './deliverer.ts';

export type Address = ReadonlyMap<string, string>;

/** Returns the address of a request, or the reason why it cannot be used. */
export type ResolveAddress = (request: Addressed) => Address | string;

/** Keys of deliver_extra that belong to the address of every target. */
const ADDRESS_KEYS: readonly string[] = ['chat_id', 'message_thread_id', 'thread_id', 'repo', 'pr_number'];

/** Maximum length of a value, in UTF-16 units; real ids are far shorter. */
const MAX_UNITS = 1024;

const FORBIDDEN = /[\p{Cc}\p{Surrogate}\u2028\u2029]/u;

/** For titles and subjects: replaces characters that they cannot contain. */
function oneLine(text: string): string {
  const line = text.slice(0, MAX_UNITS).replace(/[\p{Cc}\p{Surrogate}\u2028\u2029]+/gu, ' ');
  return line.trim();
}

/** Links the address fields of a target with the profile's home channel. */
export function linkAddress(fields: readonly AddressPlan[], homeChannel: string | null): ResolveAddress {
  const names = new Set(['chat_id', 'thread', ...fields.map((field) => field.name)]);
  const checks = new Map(
    fields.map(({ name, pattern }) => [name, pattern === null ? null : RE2JS.compile(pattern)] as const),
  );
  return ({ extra, unresolved }) => {
    const open = unresolved.find((key) => ADDRESS_KEYS.includes(key) || names.has(key));
    if (open !== undefined) return `deliver_extra.${open} contains a placeholder that the payload did not resolve`;
    const address = new Map<string, string>();
    for (const name of names) {
      const pattern = checks.get(name) ?? null;
      const isFree = pattern === null && name !== 'chat_id' && name !== 'thread';
      const value = isFree ? oneLine(read(name, extra, homeChannel)) : read(name, extra, homeChannel);
      if (value === '') continue;
      if (value.length > MAX_UNITS || FORBIDDEN.test(value) || (pattern !== null && !pattern.matches(value))) {
        return `${keyOf(name, extra)} does not have the form that this target requires`;
      }
      address.set(name, value);
    }
    return address;
  };
}

/** A key with an empty value stays empty: it does not fall back to the home channel. */
function read(name: string, extra: DeliveryRequest['extra'], homeChannel: string | null): string {
  if (name === 'thread') return own(extra, 'message_thread_id') ?? own(extra, 'thread_id') ?? '';
  if (name === 'chat_id') return own(extra, 'chat_id') ?? homeChannel ?? '';
  return own(extra, name) ?? '';
}

function keyOf(name: string, extra: DeliveryRequest['extra']): string {
  if (name === 'thread') return Object.hasOwn(extra, 'message_thread_id') ? 'message_thread_id' : 'thread_id';
  return name === 'chat_id' && !Object.hasOwn(extra, 'chat_id') ? 'home_channel' : name;
}

/** Why no form of the target's request suits the address. */
export function noForm(address: Address, { extra }: Addressed): string {
  if (address.has('chat_id')) return 'chat_id does not have a form that this target accepts';
  return own(extra, 'chat_id') === undefined ? 'no chat_id and no home_channel' : 'deliver_extra.chat_id is empty';
}
