/** The gate before a swap: without one, over a restart, and another for one reload. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReloadReport } from '../../../../schemas/built/operations/types.ts';
import { startGateway, until } from '../../../helpers/gateway.ts';
import { CONFIG, FILTERED, keptHomes } from './kept-home.ts';

describe('the gate before a swap', () => {
  const { serve } = keptHomes();

  it('is off by default', async (t) => {
    const { gateway, config } = await serve(t);
    config(FILTERED);
    await until(async () => (await gateway.status()).table.generation === 2);
    const late = await gateway.cli('gateway', 'reload', '--fail-on', 'lost');
    assert.equal(late.code, 1);
    assert.match(
      late.stderr,
      /was taken in at \S+Z, before this command and without a gate\n.*start it with --fail-on/,
    );
    assert.equal((await gateway.cli('gateway', 'reload', '--fail-on', 'lost')).code, 0);
  });

  it('holds over a restart', async (t) => {
    const { gateway, config } = await serve(t, '--fail-on', 'lost');
    const { hash } = (await gateway.status()).table;
    await gateway.stop();
    config(FILTERED);
    const argv = ['gateway', 'run', '--port', '0', '--fail-on', 'lost'];
    const again = await startGateway(t, { home: gateway.home, config: FILTERED, argv });
    const { table } = await again.status();
    assert.equal(table.hash, hash);
    assert.match(table.error ?? '', /^the new table is refused: 1 lost of 5 kept requests$/);
    config(CONFIG.replace('Review', 'Look at'));
    await until(async () => (await again.status()).table.error === null);
  });

  it('can be another one for one reload', async (t) => {
    const { gateway, config } = await serve(t, '--fail-on', 'changed');
    const reload = async (...argv: string[]): Promise<ReloadReport> =>
      JSON.parse((await gateway.cli('gateway', 'reload', '--json', ...argv)).stdout);
    config(CONFIG.replace('Review', 'Look at'));
    const { refused, ok, changed } = await reload();
    assert.deepEqual([refused?.lost, refused?.changed, ok, changed], [0, 2, false, false]);
    assert.deepEqual(
      refused?.requests.map(({ route, kind, text }) => [route, kind, text]),
      [
        ['review', 'changed', 'another prompt or address'],
        ['review', 'changed', 'another prompt or address'],
      ],
    );
    assert.equal((await reload('--fail-on', 'lost')).changed, true);
  });
});
