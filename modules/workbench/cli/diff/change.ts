/** One difference in meaning between two tables. */
import type { Place } from '../../../../schemas/generated/types.ts';

export interface ConfigChange {
  /** The kind of its subject: `route`, `job`, `target`, `agent`, `server`, `gateway`, … */
  readonly subject: string;
  readonly name: string;
  /** Its key in the configuration; null: the whole entry. */
  readonly field: string | null;
  readonly sentence: string;
  /** The old and the new value as text; null: there is none. Secrets are named, never shown. */
  readonly old: string | null;
  readonly new: string | null;
  /** Where the entry is written. */
  readonly old_at: Place | null;
  readonly new_at: Place | null;
}
