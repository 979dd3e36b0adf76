/** A database that is lost in the middle of a commit, that ends all connections, and that is unavailable. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect as connectTo, createServer } from 'node:net';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PgConnect } from '../../../../modules/cluster/runtime/postgres/driver.ts';
import { loadDriver } from '../../../../modules/cluster/runtime/postgres/driver.ts';
import type { Store } from '../../../../runtime/store/contract.ts';
import { StoreInDoubt, StoreUnavailable } from '../../../../runtime/store/contract.ts';
import type { Ending } from '../../../helpers/at-end.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { makeAccept } from '../../../helpers/dispatches.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, suiteDatabase } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { accept, audit, find } from '../../../runtime/store/conformance/subject.ts';

/** The connection ends before or after the next commit of a group. */
type Cut = 'before' | 'behind' | null;

describe('an unavailable database', { skip: skipWithoutPostgres() }, () => {
  const url = suiteDatabase();
  let schemas = 0;
  // A store that waits for its database does not keep a process running.
  const alive = setInterval(() => {}, 1000);
  after(() => clearInterval(alive));

  async function open(t: Ending) {
    const real = await loadDriver();
    const cut: { next: Cut } = { next: null };
    const connect: PgConnect = async (options) => {
      const db = await real(options);
      let isGroup = false;
      const script = async <R extends object>(sql: string): Promise<readonly R[]> => {
        isGroup ||= sql.includes('SET batch');
        const { next } = cut;
        if (sql !== 'COMMIT' || !isGroup || next === null) return db.script<R>(sql);
        cut.next = null;
        if (next === 'behind') await db.script(sql);
        void db.close();
        throw new Error('Connection terminated unexpectedly');
      };
      return {
        ...db,
        get lost() {
          return db.lost;
        },
        script,
      };
    };
    const store = await openTestStore(url(), `faults_${++schemas}`, { connect });
    atEnd(t, () => store.close());
    return { store, cut };
  }

  const acceptable = async (store: Store, id: string): Promise<void> => {
    for (;;) {
      const result = await store.write(makeAccept(id, { claim: null })).catch((error: unknown) => error);
      if (!(result instanceof StoreUnavailable)) return;
      await sleep(50);
    }
  };

  it('stores a commit whose response was lost, and reports it as stored', async (t) => {
    const { store, cut } = await open(t);
    cut.next = 'behind';
    assert.equal((await store.write(makeAccept('a'))).kind, 'stored');
    assert.equal((await find(store, 'a'))?.state, 'pending');
    assert.equal((await store.write(makeAccept('again', { claim: makeAccept('a').claim }))).kind, 'duplicate');
    assert.equal(store.problem(), null);
    assert.deepEqual(await audit(store), []);
  });

  it('has stored nothing when it reports that', async (t) => {
    const { store, cut } = await open(t);
    cut.next = 'before';
    await assert.rejects(
      store.write(makeAccept('a')),
      (error) => error instanceof StoreUnavailable && !(error instanceof StoreInDoubt),
    );
    assert.equal(await find(store, 'a'), null);
    await accept(store, 'again', { claim: makeAccept('a').claim });
    assert.deepEqual(await audit(store), []);
  });

  it('recovers automatically when all connections were ended', async (t) => {
    const { store } = await open(t);
    await accept(store, 'a');
    await runSql(
      url(),
      // Waits until they have ended; otherwise a write over one of them would succeed, and the next one fail.
      'SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    await acceptable(store, 'b');
    assert.equal((await find(store, 'b'))?.state, 'pending');
    assert.equal(store.problem(), null);
  });

  it('keeps its connection when the TLS attempt that the server rejected ends late', async (t) => {
    const { port, hostname } = new URL(url());
    const refused: Socket[] = [];
    const proxy = createServer({ allowHalfOpen: true }, (client) => {
      client.on('error', () => {});
      client.once('data', (first) => {
        // An SSLRequest has eight bytes.
        if (first.length === 8) {
          refused.push(client);
          client.write('N');
          return;
        }
        const server = connectTo(Number(port), hostname);
        server.on('error', () => {}).write(first);
        client.pipe(server).pipe(client);
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const via = new URL(url());
    via.port = String((proxy.address() as AddressInfo).port);
    const store = await openTestStore(via.href, `faults_${++schemas}`);
    atEnd(t, () => store.close().then(() => proxy.close()));
    assert.ok(refused.length > 0);
    for (const client of refused) client.end();
    await Promise.all(refused.map((client) => client.closed || once(client, 'close')));
    for (const id of ['a', 'b']) await accept(store, id);
    assert.equal(store.problem(), null);
  });

  it('opens without a database, reports the problem without the password, and accepts nothing', async (t) => {
    const store = await openTestStore('postgres://user:swordfish@127.0.0.1:1/x', 's');
    atEnd(t, () => store.close());
    assert.equal(store.problem()?.kind, 'unavailable');
    await assert.rejects(store.write(makeAccept('a')), (error) => {
      assert.ok(error instanceof StoreUnavailable);
      assert.doesNotMatch(error.message, /swordfish/);
      return true;
    });
    await assert.rejects(store.read({ kind: 'audit' }), StoreUnavailable);
  });

  it('rejects the tables of a newer version, by name and number', async (t) => {
    const { store } = await open(t);
    await store.close();
    await runSql(url(), `UPDATE faults_${schemas}.schema_version SET version = 99`);
    await assert.rejects(openTestStore(url(), `faults_${schemas}`), {
      name: 'StoreRefused',
      message: new RegExp(`schema "faults_${schemas}" has version 99`),
    });
  });
});
