/** What every store promises, kept by the SQLite store as a command opens it; the server's is the same behind threads. */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../../../../runtime/store/contract.ts';
import { openOfflineStore } from '../../../../runtime/store/sqlite/open-store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import { storeConformance } from '../conformance/conformance.ts';

storeConformance({
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
      // What a killed process leaves is what its files hold.
      async kill() {
        const from = pathOf(home);
        const to = pathOf(++home);
        mkdirSync(join(dir, `home-${home}`));
        for (const suffix of ['', '-wal']) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
        if (open !== null) killed.push(open);
      },
    };
  },
});
