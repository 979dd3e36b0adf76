/** Tests the gate before a swap: its default, rejections, restarts, and a different gate for one reload. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ReloadReport } from '../../../../schemas/built/operations/types.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { startGateway, until } from '../../../helpers/gateway.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import { CONFIG, FILTERED, keptHomes } from './captured-home.ts';

describe('the gate before a swap', () => {
  const { serve } = keptHomes();

  it('is off by default', async (t) => {
    const { gateway, config } = await serve(t);
    config(FILTERED);
    await until(async () => (await gateway.status()).table.generation === 2);
    const late = await gateway.cli('gateway', 'reload', '--fail-on', 'lost');
    assert.equal(late.code, 1);
    assert.match(late.stderr, /\d{4}-\d\d-\d\dT\S+Z[\s\S]*--fail-on/);
    assert.equal((await gateway.cli('gateway', 'reload', '--fail-on', 'lost')).code, 0);
  });

  it('survives a restart', async (t) => {
    const { gateway, config } = await serve(t, '--fail-on', 'lost');
    const { hash } = (await gateway.status()).table;
    await gateway.stop();
    config(FILTERED);
    const argv = ['gateway', 'run', '--port', '0', '--fail-on', 'lost'];
    const again = await startGateway(t, { home: gateway.home, config: FILTERED, argv });
    const { table } = await again.status();
    assert.equal(table.hash, hash);
    assert.match(table.error ?? '', /\b1 lost\b.*\b5\b/);
    config(CONFIG.replace('Review', 'Look at'));
    await until(async () => (await again.status()).table.error === null);
  });

  it('can be overridden for one reload', async (t) => {
    const { gateway, config } = await serve(t, '--fail-on', 'changed');
    const reload = async (...argv: string[]): Promise<ReloadReport> =>
      JSON.parse((await gateway.cli('gateway', 'reload', '--json', ...argv)).stdout);
    config(CONFIG.replace('Review', 'Look at'));
    const { refused, ok, changed } = await reload();
    assert.deepEqual([refused?.lost, refused?.changed, ok, changed], [0, 2, false, false]);
    assert.deepEqual(
      refused?.requests.map(({ route, kind }) => [route, kind]),
      [
        ['review', 'changed'],
        ['review', 'changed'],
      ],
    );
    assert.equal((await reload('--fail-on', 'lost')).changed, true);
  });

  it('keeps the old table and names the request if a reload would lose a captured request', async (t) => {
    const { gateway, config } = await serve(t, '--fail-on', 'lost');
    const { hash } = (await gateway.status()).table;
    config(FILTERED);
    const line = await until(async () => /.*"lost":1,?.*/.exec(gateway.running.stderr()));
    assert.match(line[0], /"kind":"lost","text":"202 accepted → 200 ignored: filter"/);
    const { table } = await gateway.status();
    assert.equal(table.hash, hash);
    assert.match(table.error ?? '', /\b1 lost\b.*\b5\b/);
    const refused = await gateway.cli('gateway', 'reload');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^lost \S+ review: 202 accepted → 200 ignored: filter\nerror: /m);
    const forced = await gateway.cli('gateway', 'reload', '--fail-on', 'none');
    assert.equal(forced.code, 0, forced.stderr);
    const after = (await gateway.status()).table;
    assert.deepEqual([after.hash === hash, after.error], [false, null]);
  });

  it('is rejected for tables that were compiled elsewhere', async (t) => {
    const home = tempDir(t);
    writeFileSync(join(home, 'config.yaml'), CONFIG);
    const compiled = await runInProcess(['compile', '--out', 'build'], { home });
    assert.equal(compiled.code, 0, compiled.stderr);
    const gateway = await startGateway(t, {
      home,
      config: CONFIG,
      argv: ['serve', '--table', 'build', '--port', '0'],
    });
    const { code, stderr } = await gateway.cli('gateway', 'reload', '--fail-on', 'lost');
    assert.equal(code, 1);
    assert.match(stderr, /--fail-on/);
  });
});
