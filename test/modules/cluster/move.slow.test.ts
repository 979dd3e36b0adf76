/** A store that moves from SQLite to PostgreSQL goes on there as if nothing had happened. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { openExport } from '../../../modules/cluster/runtime/export.ts';
import { loadDriver } from '../../../modules/cluster/runtime/postgres/driver.ts';
import { importStore } from '../../../modules/cluster/runtime/postgres/import.ts';
import { migrate } from '../../../modules/cluster/runtime/postgres/migrate.ts';
import { beginOf, transact } from '../../../modules/cluster/runtime/postgres/transact.ts';
import type { Ref } from '../../../runtime/store/mutations.ts';
import { openOfflineStore } from '../../../runtime/store/sqlite/open-store.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';
import { skipWithoutPostgres } from '../../helpers/postgres/binaries.ts';
import { testDatabase } from '../../helpers/postgres/database.ts';
import { openTestStore } from '../../helpers/postgres/store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { inOrder, look, write } from '../../runtime/store/conformance/equivalence.ts';
import type { Recipe } from '../../runtime/store/conformance/recipes.ts';
import { recipe } from '../../runtime/store/conformance/recipes.ts';

async function move(path: string, url: string, schema: string): Promise<void> {
  const source = openExport(path, 'an id');
  const db = await (await loadDriver())({ url, name: 'test', prepare: false });
  try {
    await migrate(db, schema);
    const stored = await transact(db, beginOf(schema), () => importStore(db, source, () => {}));
    assert.deepEqual(stored, source.count);
  } finally {
    await db.close();
    source.close();
  }
}

describe('a store that moves to PostgreSQL', { skip: skipWithoutPostgres() }, () => {
  it('holds the same afterwards, and does the same from then on', async (t) => {
    const url = await testDatabase(t);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(recipe, { minLength: 20, maxLength: 60 }),
        fc.array(recipe, { minLength: 5, maxLength: 30 }),
        async (before, after) => {
          const path = join(tempDir(t), 'state.db');
          const schema = `moved_${++run}`;
          const model = createMemoryStore();
          const refs: { readonly real: Ref[]; readonly model: Ref[] } = { real: [], model: [] };
          let step = 0;
          const apply = async (store: Store, recipes: readonly Recipe[]): Promise<void> => {
            for (const make of recipes) {
              const made = make(`d${String(++step).padStart(2, '0')}`, 1000 + step * 10);
              if (made === 'restart' || made === 'crash') continue;
              const [real, expected] = [await write(store, made, refs.real), await write(model, made, refs.model)];
              assert.deepEqual(real, expected, `${step}: ${JSON.stringify(made)}`);
            }
          };
          const compare = async (store: Store): Promise<void> => {
            const now = 1000 + step * 10;
            const seen = inOrder(await look(store, refs.real, now), refs.real);
            assert.deepEqual(seen, inOrder(await look(model, refs.model, now), refs.model));
          };
          const file = await openOfflineStore(path);
          await apply(file, before);
          const under_way = { runs: [], attempts: [] };
          // One holder after the other: within one call their order is the engine's own.
          for (const holder of ['one', 'the move']) {
            const recover = { kind: 'recover', holder, now: 1000 + ++step * 10, under_way } as const;
            for (const store of [file, model]) await store.write(recover);
          }
          await file.close();
          await move(path, url, schema);
          const moved = await openTestStore(url, schema);
          try {
            await compare(moved);
            await apply(moved, after);
            await compare(moved);
          } finally {
            await moved.close();
          }
        },
      ),
      { seed: 5, numRuns: 4, includeErrorInReport: true, endOnFailure: true },
    );
  });
});
