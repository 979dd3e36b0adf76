/** The SQLite store as a command opens it, for the conformance suite. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../../../runtime/store/contract.ts';
import { openOfflineStore } from '../../../helpers/rescued-store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import type { StoreSubject } from '../conformance/subject.ts';

/** The SQLite store, with separate homes for each test. */
export const sqliteSubject: StoreSubject = {
  name: 'SQLite store',
  create(t) {
    const dir = tempDir(t);
    let home = 0;
    let open: Store | null = null;
    const killed: Store[] = [];
    t.after(async () => {
      for (const store of killed) await store.close();
    });
    const pathOf = (n: number): string => join(dir, `home-${n}`, 'state.db');
    return {
      async open() {
        open = await openOfflineStore(pathOf(home));
        return open;
      },
      // A killed process leaves only the content of its files.
      async kill() {
        const from = pathOf(home);
        const to = pathOf(++home);
        mkdirSync(join(dir, `home-${home}`));
        for (const suffix of ['', '-wal']) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
        if (open !== null) killed.push(open);
      },
    };
  },
};
