/** The names that texts of a target file may use, and the parts of a request that the texts belong to. */
import type { TargetAddressField, TargetContentField, TargetSetting, ValueRef } from '../../schemas/generated/types.ts';

export interface TextScope {
  readonly settings: Readonly<Record<string, TargetSetting>>;
  readonly address: Readonly<Record<string, TargetAddressField>>;
  readonly content: Readonly<Record<string, TargetContentField>>;
  /** Named groups of the patterns of the address, and of the request's `when.chat_id`. */
  readonly groups: readonly string[];
  readonly has: { readonly exchange: boolean; readonly signature: boolean; readonly jwt: boolean };
}

/**
 * The part of a request that a text belongs to. Host and headers may not use values of a delivery, so no payload can
 * influence them. Paths may use addresses, each encoded within its segment, but not the delivery's text.
 */
export type TextPlace = 'base' | 'basic' | 'header' | 'path' | 'content' | 'signature' | 'exchange' | 'installation';

/** Names that refer to values of the delivery itself. */
export const DELIVERY_VALUES = [
  'text',
  'key',
  'marker',
  'marks',
  'found',
  'page',
  'since',
  'jwt',
  'installation',
  'piece',
  'pieces',
  'timestamp',
  'signature',
  'exchanged_token',
] as const satisfies readonly ValueRef['of'][];

/** Names that settings and address fields may not have. */
export const RESERVED_VALUES: readonly string[] = [...DELIVERY_VALUES, 'match'];
