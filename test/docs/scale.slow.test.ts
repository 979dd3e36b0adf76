/** Runs the commands of docs/scale.md against a separate database. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { SCHEMA_VERSION } from '../../modules/cluster/runtime/postgres/schema.ts';
import type { Store } from '../../runtime/store/contract.ts';
import type { Ending } from '../helpers/at-end.ts';
import { runInProcess } from '../helpers/cli.ts';
import { makeAccept } from '../helpers/dispatches.ts';
import { codeBlocks, consoleSteps } from '../helpers/markdown.ts';
import { findBinaries, skipWithoutCluster } from '../helpers/postgres/binaries.ts';
import type { Cluster } from '../helpers/postgres/cluster.ts';
import { startCluster } from '../helpers/postgres/cluster.ts';
import { runSql } from '../helpers/postgres/database.ts';
import { openTestStore } from '../helpers/postgres/store.ts';
import { ROOT } from '../helpers/root.ts';
import { checkBlocks, runBlocks, runInShell } from '../helpers/run-document.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { storeConformance } from '../runtime/store/conformance/conformance.ts';

const blocks = codeBlocks(readFileSync(join(ROOT, 'docs/scale.md'), 'utf8'));
const roles = blocks.find(({ note }) => note === 'file: roles.sql')?.text ?? '';

describe('docs/scale.md', { skip: skipWithoutCluster() }, () => {
  let cluster: Cluster;
  const ends: (() => unknown)[] = [];
  before(async () => {
    cluster = await startCluster({ after: (end) => void ends.push(end as () => unknown) });
    await runSql(cluster.url(), roles);
  });
  after(async () => {
    for (const end of ends) await end();
  });

  const urlOf = (role: string): string => cluster.url().replace(/\/\/[^@]*@/, `//${role}@`);

  it('has no block of commands that is neither run nor excused', () => checkBlocks(blocks));

  it('keeps a role that only runs from creating tables, and says which command does', async () => {
    await assert.rejects(openTestStore(urlOf('hookwright_run'), 'hookwright'), {
      name: 'StoreRefused',
      message: /"hookwright_run".*`hookwright store migrate`/,
    });
  });

  it('has the owner migrate, and again without a change', async (t) => {
    const home = tempDir(t);
    const env = { OWNER_URL: urlOf('hookwright_owner') };
    const run = async (command: string): Promise<string> => {
      const { stdout, stderr } = await runInProcess(command.split(' ').slice(1), { home, env });
      return stdout + stderr;
    };
    await runBlocks(
      blocks.filter(({ text }) => text.includes('store migrate')),
      home,
      {},
      run,
    );
    assert.equal(
      await run('hookwright store migrate --database env:OWNER_URL --json'),
      `{\n  "schema": "hookwright",\n  "from": ${SCHEMA_VERSION},\n  "to": ${SCHEMA_VERSION}\n}\n`,
    );
    const refused = await runInProcess(['store', 'migrate', '--database', 'env:OWNER_URL', '--schema', 'other'], {
      ...{ home, env },
    });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /"other".*"hookwright_owner"/);
    const unnamed = await runInProcess(['store', 'migrate'], { home });
    assert.deepEqual([unnamed.code, unnamed.stderr.includes('gateway.store')], [1, true]);
  });

  it('says which rights are missing where tables may not be read', async () => {
    await runSql(cluster.url(), 'CREATE ROLE stranger LOGIN');
    await assert.rejects(openTestStore(urlOf('stranger'), 'hookwright'), /"stranger".*GRANTs?\b/);
  });

  it('has a backup that restores what was stored when it was made, and nothing else', async (t) => {
    await runSql(cluster.url(), 'CREATE DATABASE backup');
    const url = cluster.url('backup');
    const acceptOf = (id: string) => makeAccept(id, { now: 0 });
    const dir = tempDir(t);
    const env = { DATABASE_URL: url, PATH: `${findBinaries()}:${process.env.PATH}` };
    const [dump, restore] = consoleSteps(blocks.find(({ text }) => text.includes('pg_dump'))?.text ?? '');
    const before = await openTestStore(url, 'hookwright');
    await before.write(acceptOf('kept'));
    assert.equal(await runInShell(dump?.command ?? '', dir, env), '');
    await before.write(acceptOf('later'));
    await before.close();
    assert.equal(await runInShell(restore?.command ?? '', dir, env), '');
    const after = await openTestStore(url, 'hookwright');
    t.after(() => after.close());
    assert.deepEqual(await after.read({ kind: 'audit' }), []);
    assert.equal((await after.write(acceptOf('kept'))).kind, 'duplicate');
    assert.equal((await after.write(acceptOf('later'))).kind, 'stored');
  });

  describe('a role that only runs', () => {
    let opened: Store | null = null;
    storeConformance(
      {
        name: 'has the rights that it needs',
        share: 0.1,
        create: async () => {
          const url = cluster.url();
          await runSql(url, 'DROP SCHEMA hookwright CASCADE');
          await runSql(url, roles.replaceAll(/^CREATE ROLE .*$/gm, ''));
          await (await openTestStore(urlOf('hookwright_owner'), 'hookwright')).close();
          return {
            open: async () => {
              opened = await openTestStore(urlOf('hookwright_run'), 'hookwright');
              return opened;
            },
            kill: async () => {
              await opened?.close();
              await runSql(url, "UPDATE hookwright.node SET until = '-infinity'");
            },
          };
        },
      },
      ['equivalence'],
    );
  });
});

describe('migrations', { skip: skipWithoutCluster() }, () => {
  it('that begin at once are made once, and every gateway goes on', async (t) => {
    const cluster = await startCluster(t);
    const stores = await Promise.all(Array.from({ length: 6 }, () => openTestStore(cluster.url(), 'together')));
    const ends = { after: t.after.bind(t) } as Ending;
    for (const store of stores) ends.after(() => store.close());
    for (const [n, store] of stores.entries()) {
      assert.equal(store.problem(), null);
      assert.equal((await store.write(makeAccept(`d${n}`, { claim: null }))).kind, 'stored');
    }
    const versions = await runSql(cluster.url(), 'SELECT version FROM together.schema_version');
    assert.equal(versions.length, 1);
  });
});
