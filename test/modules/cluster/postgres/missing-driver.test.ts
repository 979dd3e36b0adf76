/** A store on PostgreSQL without the driver, which is an optional peer dependency. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { loadDriver } from '../../../../modules/cluster/runtime/postgres/driver.ts';
import { copyRuntime, ENDING } from '../../../helpers/tree-copy.ts';

it('names the package to install', async (t) => {
  const file = join(copyRuntime(t, 'pg'), `modules/cluster/runtime/postgres/driver${ENDING}`);
  const loaded = (await import(pathToFileURL(file).href)) as { loadDriver: typeof loadDriver };
  await assert.rejects(loaded.loadDriver(), {
    name: 'StoreRefused',
    message: /^gateway\.store: .*`npm install pg`/,
  });
});
