/** Tests that a gateway killed while capturing leaves only complete requests. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRequestFile } from '../../../../modules/workbench/runtime/capture/request-file.ts';
import { capturePath } from '../../../../modules/workbench/runtime/capture/requests.ts';
import { connect } from '../../../../runtime/store/sqlite/driver.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { until } from '../../../helpers/gateway.ts';
import { startGatewayProcess } from '../../../helpers/gateway-process.ts';
import { signed } from '../../../helpers/serve.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const SECRET = 'a secret of sixteen characters';
const CONFIG = `platforms:
  webhook: { enabled: true, port: 0, secret: env:WEBHOOK_SECRET, rate_limit: 1000000, routes: { ci: { prompt: x } } }
gateway: { capture_per_second: 1000 }
`;

test('kill -9 leaves no partial record', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'hookwright.yaml'), CONFIG, { mode: 0o600 });
  const gateway = await startGatewayProcess({ home, env: { WEBHOOK_SECRET: SECRET } });
  atEnd(t, gateway.kill);
  let sending = true;
  const sender = async (from: number): Promise<void> => {
    for (let n = from; sending; n += 4) {
      const body = JSON.stringify({ n, text: 'x'.repeat((n % 50) * 1000) });
      await fetch(`${gateway.url}/webhooks/ci`, { method: 'POST', body, headers: signed(body, SECRET) }).catch(
        () => {},
      );
    }
  };
  const senders = [0, 1, 2, 3].map(sender);
  const count = async (): Promise<number> => {
    const requests = openRequestFile(home);
    const rows = await requests.list({}, { limit: 1000 });
    await requests.close();
    return rows.length;
  };
  await until(async () => (await count()) > 20);
  await gateway.kill();
  sending = false;
  await Promise.all(senders);

  const db = connect(capturePath(home), { busyMs: 1000 });
  assert.equal(db.query<[string]>('PRAGMA integrity_check').get()?.[0], 'ok');
  db.close();
  const requests = openRequestFile(home);
  for (const { id, body_bytes } of await requests.list({}, { limit: 1000 })) {
    const found = await requests.load(id);
    assert(found.kind === 'found');
    const body = Buffer.from(found.request.body ?? '', 'base64');
    assert.equal(body.length, body_bytes);
    assert.doesNotThrow(() => JSON.parse(body.toString('utf8')));
  }
  await requests.close();
});
