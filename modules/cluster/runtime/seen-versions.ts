/**
 * The highest signed version of each kind of document that this machine has seen, in `<home>/seen-versions.json`, so that a
 * document that somebody puts back into the database is refused, also after a restart. A new machine has seen nothing: it
 * takes what is signed, whatever its version.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../base/message-of.ts';
import { writeAtomic } from '../../../runtime/platform/write-atomic.ts';
import { StoreRefused } from '../../../runtime/store/store.ts';

export interface SeenVersions {
  /** 0 when none was seen. @throws StoreRefused when the file is damaged */
  get(kind: string): number;
  /** Keeps the version if it is the highest. */
  raise(kind: string, version: number): void;
}

/** Reads and writes the file at each call, because commands of this home use it, too. */
export function seenVersions(home: string): SeenVersions {
  const path = join(home, 'seen-versions.json');
  /** Where the home cannot be written, this process at least remembers. */
  const here = new Map<string, number>();
  const get = (kind: string): number => Math.max(here.get(kind) ?? 0, readVersions(path)[kind] ?? 0);
  return {
    get,
    raise(kind, version) {
      if (version <= get(kind)) return;
      here.set(kind, version);
      try {
        writeAtomic(path, `${JSON.stringify({ ...readVersions(path), [kind]: version })}\n`, 0o600);
      } catch {
        // A home on a read-only disk serves, too.
      }
    },
  };
}

function readVersions(path: string): Readonly<Record<string, number>> {
  if (!existsSync(path)) return {};
  try {
    const found = JSON.parse(readFileSync(path, 'utf8')) as unknown;
    if (typeof found !== 'object' || found === null || !Object.values(found).every(Number.isSafeInteger))
      throw new Error('it holds no versions');
    return found as Readonly<Record<string, number>>;
  } catch (error) {
    throw new StoreRefused(
      `${path} cannot be read: ${messageOf(error)}\nlook at which table, subscriptions and jobs are in the database, then remove the file`,
    );
  }
}
