/** The conformance tests for the store on PostgreSQL, with a schema for each store, in one database. */
import { describe } from 'node:test';
import { atEnd } from '../../../helpers/at-end.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, suiteDatabase } from '../../../helpers/postgres/database.ts';
import { openMortalStore } from '../../../helpers/postgres/store.ts';
import { storeConformance } from '../../../runtime/store/conformance/conformance.ts';

describe('the store on PostgreSQL', { skip: skipWithoutPostgres() }, () => {
  const url = suiteDatabase();
  let schemas = 0;
  storeConformance({
    name: 'PostgreSQL store',
    // Each run creates all tables again.
    share: 0.2,
    async create(t) {
      const schema = `store_${++schemas}`;
      let opened: Awaited<ReturnType<typeof openMortalStore>> | null = null;
      atEnd(t, () => runSql(url(), `DROP SCHEMA IF EXISTS ${schema} CASCADE`));
      return {
        async open() {
          opened = await openMortalStore(url(), schema);
          return opened.store;
        },
        kill: async () => opened?.kill(),
      };
    },
  });
});
