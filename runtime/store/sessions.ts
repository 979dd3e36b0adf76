/** Sessions of chats: files in a profile's home, or rows of a shared database. */
import type { SessionSummary } from '../../schemas/built/operations/types.ts';

export type { SessionSummary } from '../../schemas/built/operations/types.ts';

/** One message of a session. */
export interface Turn {
  readonly role: string;
  readonly content: string;
  /** UTC instant, RFC 3339. */
  readonly at: string;
}

export interface Chat {
  readonly profile: string;
  /** Canonical target name. */
  readonly target: string;
  readonly chatId: string;
}

export interface Sessions {
  /** Creates the chat's session unless it exists. `path`: as in a summary. */
  open(chat: Chat): Promise<{ readonly path: string | null; readonly created: boolean }>;
  /** Returns false when the chat has no session. */
  append(chat: Chat, turn: Turn): Promise<boolean>;
  /** Sorted by target, then chat. */
  list(profile: string): Promise<readonly SessionSummary[]>;
  /** The turns in order; null when the chat has no session. */
  read(chat: Chat): Promise<readonly Turn[] | null>;
}
