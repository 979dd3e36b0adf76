/** Tests the limits of capture under overload: for 20 seconds, or an hour with `HOOKWRIGHT_LONG_TESTS=1`. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { FakeClock } from '../../../helpers/fake-clock.ts';
import { serveKeeping } from '../../../helpers/keeping.ts';

const SECONDS = process.env.HOOKWRIGHT_LONG_TESTS === '1' ? 3600 : 20;
const PER_SECOND = 20;
const KEPT_PER_SECOND = 5;
const MAX_MB = 1;
/** Allowance for data outside the limit: a thousand pages, and the last transactions. */
const LOG_MB = 6;
const BODY = 'x'.repeat(20_000);

test('a route under overload stays within its capture limits', async (t) => {
  const clock = new FakeClock();
  const gateway = { capture_per_second: KEPT_PER_SECOND, capture_max_mb: MAX_MB, capture_days: 1 };
  const { post, counts, capture, path } = await serveKeeping(t, { routes: { ci: {} }, gateway }, { clock });
  let largest = 0;
  for (let second = 0; second < SECONDS; second++) {
    for (let n = 0; n < PER_SECOND; n++) {
      const stranger = n % 4 === 0 ? { 'x-hub-signature-256': 'sha256=00' } : {};
      assert.equal((await post('/webhooks/ci', { second, n, text: BODY }, stranger)).status, n % 4 === 0 ? 401 : 202);
    }
    await clock.run(1000);
    largest = Math.max(largest, statSync(path).size + sizeOf(`${path}-wal`));
  }
  await capture.flush();
  assert(largest < (MAX_MB + LOG_MB) * 1024 * 1024, `${largest} bytes`);
  const { kept, dropped } = counts;
  assert.equal(kept + dropped.rate + dropped.queue + dropped.failed, SECONDS * PER_SECOND);
  assert(kept <= (SECONDS + 1) * KEPT_PER_SECOND, `${kept} were kept`);
  assert(kept >= (SECONDS - 1) * KEPT_PER_SECOND, `${kept} were kept`);
  assert.deepEqual([dropped.queue, dropped.failed], [0, 0]);
});

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
