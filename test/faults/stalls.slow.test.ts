/** A disk that hangs for one to three seconds, three times a minute: a sender that waits that long loses no event. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createPreload } from '../helpers/disk/preload.ts';
import { createSender, startGatewayProcess } from '../helpers/gateway-process.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { observe } from './observe.ts';

const SECRET = 'a-secret-for-the-stall-tests';
const STALL_MS = 20_000;
const [EVENTS, PER_SECOND] = process.env.HOOKWRIGHT_LONG_TESTS === undefined ? [200, 5] : [960, 16];
/** More than the gateway may take beyond what it needs without load, in bytes. */
const MOST_BYTES = 400 * 2 ** 20;

const config = `platforms:
  webhook:
    enabled: true
    port: 0
    rate_limit: 100000
    routes:
      push: { source: github, secret: ${SECRET}, agent: none, deliver: log, prompt: "<{id}>" }
`;

const post = createSender(SECRET);
const disk = createPreload();

describe('a disk that stalls', { skip: disk === null && 'needs gcc' }, () => {
  it('refuses no event of a sender that waits ten seconds, and stores each once', async (t) => {
    const home = tempDir(t);
    writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
    const wrap = (argv: readonly string[]) => disk?.wrap(argv, { home, stallMs: STALL_MS }) ?? { argv, env: {} };
    const gateway = await startGatewayProcess({ home, wrap });
    t.after(() => gateway.kill());
    let slowest = 0;
    let mostBytes = 0;
    const send = async (id: string): Promise<number> => {
      const begun = performance.now();
      const { status } = await post(gateway.url, 'push', id, { id, text: 'x'.repeat(4000) });
      slowest = Math.max(slowest, performance.now() - begun);
      return status;
    };
    const statuses: Promise<number>[] = [];
    for (let n = 0; n < EVENTS; n++) {
      statuses.push(send(`event-${n}`));
      await setTimeout(1000 / PER_SECOND);
      mostBytes = Math.max(mostBytes, residentBytes(gateway.child.pid));
    }
    const refused = (await Promise.all(statuses)).filter((status) => status !== 202);
    t.diagnostic(`slowest response ${Math.round(slowest)} ms, ${Math.round(mostBytes / 2 ** 20)} MB`);
    assert.deepEqual(refused, []);
    assert.ok(slowest > 900, 'the disk did not stall');
    assert.ok(mostBytes < MOST_BYTES, `${mostBytes} bytes`);
    const { listed } = await observe(home);
    assert.equal(listed.size, EVENTS);
    assert.ok([...listed.values()].every(({ length }) => length === 1));
  });
});

function residentBytes(pid: number | undefined): number {
  const [, pages = '0'] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
  return Number(pages) * 4096;
}
