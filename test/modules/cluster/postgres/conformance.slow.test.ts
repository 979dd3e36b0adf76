/** What every store promises, kept by the one on PostgreSQL: a schema for each place, in one database. */
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
    // Each run makes all tables anew.
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
