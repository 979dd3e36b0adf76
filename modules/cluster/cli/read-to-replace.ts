/** Reads a shared document that is to be replaced, also when its signature is not right. */
import type { SharedDocuments } from '../../../runtime/store/shared.ts';
import { StoreRefused } from '../../../runtime/store/store.ts';

export interface Replaceable {
  /** What `replace` wants. */
  readonly version: number;
  /** Null when it is refused. */
  readonly text: string | null;
  readonly refused: StoreRefused | null;
}

export async function readToReplace(documents: SharedDocuments, name: string): Promise<Replaceable> {
  // First, so that a change in between fails the replacement.
  const version = await documents.version(name);
  try {
    return { ...(await documents.read(name)), refused: null };
  } catch (error) {
    if (error instanceof StoreRefused) return { version, text: null, refused: error };
    throw error;
  }
}
