/** The conformance tests behind a pooler in transaction mode, where nothing lasts longer than a transaction. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Store } from '../../../../runtime/store/contract.ts';
import type { Ending } from '../../../helpers/at-end.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { makeAccept } from '../../../helpers/dispatches.ts';
import { runSql, testDatabase } from '../../../helpers/postgres/database.ts';
import { skipWithoutPgbouncer, startPgbouncer } from '../../../helpers/postgres/pgbouncer.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { TcpProxy } from '../../../helpers/tcp-proxy.ts';
import { storeConformance } from '../../../runtime/store/conformance/conformance.ts';
import type { StoreSubject } from '../../../runtime/store/conformance/subject.ts';
import { audit, find } from '../../../runtime/store/conformance/subject.ts';

describe('the store behind PgBouncer', { skip: skipWithoutPgbouncer() }, () => {
  let url = '';
  let pooled = '';
  let proxy: TcpProxy;
  const ends: (() => unknown)[] = [];
  before(async () => {
    const suite = { after: (end: () => unknown) => void ends.push(end) } as Ending;
    url = await testDatabase(suite);
    pooled = await startPgbouncer(suite, url);
    proxy = new TcpProxy({ host: '127.0.0.1', port: Number(new URL(pooled).port) });
    await proxy.listen();
    atEnd(suite, () => proxy.close());
  });
  after(async () => {
    for (const end of ends) await end();
  });
  let schemas = 0;
  const newSchema = (t: Ending): string => {
    const schema = `pooled_${++schemas}`;
    atEnd(t, () => runSql(url, `DROP SCHEMA IF EXISTS ${schema} CASCADE`));
    return schema;
  };

  it('shares few connections between many busy gateways', async (t) => {
    const schema = newSchema(t);
    const stores: Store[] = [];
    for (let n = 0; n < 4; n++) stores.push(await openTestStore(pooled, schema, { listen: false }));
    for (const store of stores) atEnd(t, () => store.close());
    await Promise.all(
      stores.flatMap((store, node) =>
        Array.from({ length: 40 }, async (_, n) => {
          await store.write(makeAccept(`${node}-${n}`, { claim: null }));
          assert.equal((await find(store, `${node}-${n}`))?.state, 'pending');
        }),
      ),
    );
    const [first] = stores;
    assert.ok(first !== undefined);
    assert.deepEqual(await audit(first), []);
    assert.deepEqual(
      stores.map((store) => store.problem()),
      [null, null, null, null],
    );
    const [{ open } = { open: 0 }] = await runSql<{ open: number }>(
      url,
      "SELECT count(*)::integer AS open FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'",
    );
    assert.ok(open <= 3, `${open} connections`);
  });

  const subject: StoreSubject = {
    name: 'PostgreSQL store behind PgBouncer',
    // Each run creates all tables again.
    share: 0.1,
    async create(t) {
      const schema = newSchema(t);
      let opened: Store | null = null;
      return {
        async open() {
          proxy.heal();
          opened = await openTestStore(proxy.via(pooled), schema, { listen: false });
          return opened;
        },
        async kill() {
          proxy.refuse();
          await opened?.close();
          await runSql(url, `UPDATE ${schema}.node SET until = '-infinity'`);
        },
      };
    },
  };
  // One part for each kind of statement.
  storeConformance(subject, ['claims', 'groups', 'runs', 'recovery', 'jobs', 'retention', 'failures', 'equivalence']);
});
