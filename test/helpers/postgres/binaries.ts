/**
 * Where PostgreSQL's own programs are on this machine, and the user that runs them, because the server refuses to run
 * as root.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { skipWithout } from '../skip-without.ts';

const DEBIAN = '/usr/lib/postgresql';

/** The folder of `initdb` and `postgres`: Debian's newest version, else that of `pg_config`; null without a server. */
export function findBinaries(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const config = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' });
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), config.stdout?.trim() ?? ''];
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres'))) ?? null;
}

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** The user that runs a server: the user of this process or, instead of root, Debian's `postgres`. */
export function serverOwner(): Owner | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string): number => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}

/** For the `skip` of node:test: false if a server is given (HOOKWRIGHT_TEST_POSTGRES) or can be started. */
export const skipWithoutPostgres = (): string | false =>
  skipWithout(
    process.env.HOOKWRIGHT_TEST_POSTGRES !== undefined || findBinaries() !== null,
    'PostgreSQL',
    'postgresql',
  );

/** The same for tests that stop, kill or pause their own server. */
export const skipWithoutCluster = (): string | false =>
  skipWithout(findBinaries() !== null, 'a PostgreSQL server', 'postgresql');
