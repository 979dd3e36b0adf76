/** A database over TLS, with the meaning that `sslmode` and `sslrootcert` have in libpq. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadDriver } from '../../../../modules/cluster/runtime/postgres/driver.ts';
import { StoreRefused } from '../../../../runtime/store/contract.ts';
import type { Ending } from '../../../helpers/at-end.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { skipWithoutCluster } from '../../../helpers/postgres/binaries.ts';
import type { Certificates } from '../../../helpers/postgres/certificates.ts';
import { makeCertificates } from '../../../helpers/postgres/certificates.ts';
import type { Cluster } from '../../../helpers/postgres/cluster.ts';
import { startCluster } from '../../../helpers/postgres/cluster.ts';
import { runSql } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const PASSWORD = 'correct-horse/battery';

describe('a database over TLS', { skip: skipWithoutCluster() }, () => {
  let cluster: Cluster;
  let files: Certificates;
  const ends: (() => unknown)[] = [];
  before(async () => {
    const suite = { after: (end: () => unknown) => void ends.push(end) } as Ending;
    files = makeCertificates(suite);
    const folder = tempDir(suite);
    chmodSync(folder, 0o755);
    const hba = join(folder, 'pg_hba.conf');
    writeFileSync(hba, 'hostssl all secure all scram-sha-256\nhost all hookwright all trust\n', { mode: 0o644 });
    cluster = await startCluster(suite, { settings: { ...files.settings, hba_file: hba } });
    await runSql(
      cluster.url(),
      `CREATE ROLE secure LOGIN PASSWORD '${PASSWORD}'; GRANT CREATE ON DATABASE postgres TO secure`,
    );
  });
  after(async () => {
    for (const end of ends) await end();
  });

  const urlWith = (settings: string, host = 'localhost', password = PASSWORD): string =>
    `postgres://secure:${encodeURIComponent(password)}@${host}:${cluster.port}/postgres?${settings}`;

  /** Why the store is unavailable; null: it accepts changes. */
  async function problemWith(t: Ending, url: string): Promise<string | null> {
    const store = await openTestStore(url, 'over_tls');
    atEnd(t, () => store.close());
    return store.problem()?.message ?? null;
  }

  it('is encrypted unless this is disabled, and verified if the URL requires it', async (t) => {
    for (const settings of [
      ...['', 'sslmode=prefer', 'sslmode=require', 'ssl=true'],
      ...['require', 'verify-ca', 'verify-full'].map((mode) => `sslmode=${mode}&sslrootcert=${files.ca}`),
    ]) {
      assert.equal(await problemWith(t, urlWith(settings)), null, settings);
    }
    const [row] = await runSql<{ all_encrypted: boolean }>(
      cluster.url(),
      "SELECT bool_and(ssl) AS all_encrypted FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'secure'",
    );
    assert.equal(row?.all_encrypted, true);
    assert.notEqual(await problemWith(t, urlWith('sslmode=disable')), null);
  });

  it('is not used with a certificate of another CA, of another host, or of an unknown CA', async (t) => {
    const wrongCa = await problemWith(t, urlWith(`sslmode=verify-full&sslrootcert=${files.otherCa}`));
    assert.match(wrongCa ?? '', /certificate.*sslrootcert/);
    assert.match((await problemWith(t, urlWith(`sslmode=require&sslrootcert=${files.otherCa}`))) ?? '', /certificate/);
    assert.match((await problemWith(t, urlWith('sslmode=verify-full'))) ?? '', /certificate/);
    const byAddress = await problemWith(t, urlWith(`sslmode=verify-full&sslrootcert=${files.ca}`, '127.0.0.1'));
    assert.match(byAddress ?? '', /127\.0\.0\.1/);
    assert.equal(await problemWith(t, urlWith(`sslmode=verify-ca&sslrootcert=${files.ca}`, '127.0.0.1')), null);
  });

  it('is reached without TLS if the server does not have it and nothing requires it', async (t) => {
    const plain = await startCluster(t);
    assert.equal(await problemWith(t, plain.url()), null);
    assert.equal(await problemWith(t, `${plain.url()}?sslmode=prefer`), null);
    assert.match((await problemWith(t, `${plain.url()}?sslmode=require`)) ?? '', /does not support SSL/);
  });

  it('never shows the password, not even a wrong one', async (t) => {
    const problem = await problemWith(t, urlWith('sslmode=require', 'localhost', 'tr0ub4dor'));
    assert.match(problem ?? '', /password authentication failed for user "secure"/);
    assert.doesNotMatch(problem ?? '', /tr0ub4dor/);
  });
});

describe('TLS settings of a URL', () => {
  const refusals: readonly (readonly [settings: string, message: RegExp])[] = [
    [
      'sslmode=verfy-full',
      /sslmode=verfy-full is invalid: use one of disable, prefer, require, verify-ca, verify-full/,
    ],
    ['sslmode=verify-full&sslrootcert=/nowhere.crt', /no such file.*\/nowhere\.crt/],
    ['sslmode=verify-ca', /sslmode=verify-ca requires sslrootcert/],
    ['sslmode=require&sslrootcert=system', /sslrootcert=system requires sslmode=verify-full/],
    ['sslcrl=/x', /sslcrl is not supported/],
    ['sslmode=verify-full&sslpassword=swordfish', /sslpassword is not supported/],
    ['sslmode=verify-full&ssl_min_protocol_version=TLSv1.3', /ssl_min_protocol_version is not supported/],
  ];
  for (const [settings, message] of refusals) {
    it(`are rejected if they cannot be honoured: ${settings}`, async () => {
      const connect = await loadDriver();
      await assert.rejects(
        connect({ url: `postgres://u:swordfish@127.0.0.1:1/x?${settings}`, name: 'test', prepare: false }),
        (error) => error instanceof StoreRefused && message.test(error.message) && !/swordfish/.test(error.message),
      );
    });
  }
});
