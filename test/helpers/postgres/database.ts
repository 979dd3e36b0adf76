/** A database for one test, dropped when the test ends. */
import { randomBytes } from 'node:crypto';
import { after, before } from 'node:test';
import pg from 'pg';
import type { Ending } from '../at-end.ts';
import { atEnd } from '../at-end.ts';
import { sharedServer } from './shared-cluster.ts';

/** @returns its URL */
export async function testDatabase(t: Ending): Promise<string> {
  const server = await sharedServer();
  const name = `hookwright_test_${randomBytes(6).toString('hex')}`;
  await runSql(server, `CREATE DATABASE ${name}`);
  atEnd(t, () => runSql(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** A database for all tests of a suite; call it in `describe`. @returns its URL, once the tests run */
export function suiteDatabase(): () => string {
  let url = '';
  let drop: () => unknown = () => {};
  before(async () => {
    const suite = {
      after: (end: () => unknown) => {
        drop = end;
      },
    } as Ending;
    url = await testDatabase(suite);
  });
  after(() => drop());
  return () => url;
}

/** Runs statements over a separate connection. @returns the rows of the last one */
export async function runSql<R extends object>(url: string, sql: string): Promise<readonly R[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const result: unknown = await client.query(sql);
    return ((Array.isArray(result) ? result.at(-1) : result) as { readonly rows: R[] }).rows;
  } finally {
    await client.end();
  }
}
