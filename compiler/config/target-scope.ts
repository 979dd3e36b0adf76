/** What the texts of a target file may name, and where they stand. */
import type { TargetAddressField, TargetSetting, ValueRef } from '../../schemas/generated/types.ts';

export interface TextScope {
  readonly settings: Readonly<Record<string, TargetSetting>>;
  readonly address: Readonly<Record<string, TargetAddressField>>;
  /** Named groups of the request's `when.chat_id`. */
  readonly groups: readonly string[];
  readonly has: { readonly exchange: boolean; readonly signature: boolean };
}

/**
 * Where a text stands. Host and headers are closed to everything that comes with a delivery, so that a stranger's
 * payload reaches neither; a path takes addresses, each encoded within its segment, but not the text.
 */
export type TextPlace = 'base' | 'basic' | 'header' | 'path' | 'content' | 'signature' | 'exchange';

/** Names that mean a value of the delivery itself. */
export const BUILTIN: Readonly<Record<string, ValueRef['of']>> = {
  text: 'text',
  key: 'key',
  piece: 'piece',
  pieces: 'pieces',
  timestamp: 'timestamp',
  signature: 'signature',
  exchanged_token: 'exchanged_token',
};

/** Names no setting and no address field may take. */
export const RESERVED_VALUES: readonly string[] = [...Object.keys(BUILTIN), 'match'];
