/** Two projects of one user: each has its gateway, store, lock and socket. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { GatewayStatus } from '../../../schemas/built/operations/types.ts';
import { runProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

test('two projects with their own homes run side by side, and each command reaches its own', async (t) => {
  const user = tempDir(t);
  const places = ['shop', 'blog'].map((name) => join(user, name));
  const run = (cwd: string, ...argv: string[]) =>
    runProcess(argv, {
      home: user,
      cwd,
      env: { HOME: user, HOOKWRIGHT_HOME: '', WEBHOOK_SECRET: '8f4c2be19d5a7306e1c4' },
    });
  for (const place of places) {
    mkdirSync(place);
    const webhook = '{ enabled: true, port: 0, secret: env:WEBHOOK_SECRET, routes: { a: { prompt: x } } }';
    writeFileSync(join(place, 'hookwright.yaml'), `home: ./state\nplatforms:\n  webhook: ${webhook}\n`);
    const started = await run(place, 'gateway', 'start');
    assert.equal(started.code, 0, `${started.stderr}${started.stdout}`);
  }
  const statuses = await Promise.all(
    places.map(async (place) => JSON.parse((await run(place, 'gateway', 'status', '--json')).stdout) as GatewayStatus),
  );
  assert.equal(new Set(statuses.map(({ pid }) => pid)).size, 2);
  assert.equal(new Set(statuses.map(({ url }) => url)).size, 2);
  const [shop = '', blog = ''] = places;
  assert(existsSync(join(shop, 'state', 'state.db')) && !existsSync(join(user, '.hookwright')));
  assert.equal((await run(user, 'gateway', 'stop', '--home', join(shop, 'state'))).code, 0);
  assert.equal((await run(shop, 'gateway', 'status')).code, 1);
  assert.equal((await run(blog, 'gateway', 'status')).code, 0);
  assert.equal((await run(blog, 'gateway', 'stop')).code, 0);
});
