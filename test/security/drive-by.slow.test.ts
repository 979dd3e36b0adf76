/**
 * Tests a web page that the operator opens in a real browser, beside a gateway with an open route and a console without a
 * token.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createService } from '../../main/runtime.ts';
import type { Ending } from '../helpers/at-end.ts';
import { atEnd } from '../helpers/at-end.ts';
import { launchBrowser, NO_BROWSER } from '../helpers/browser.ts';
import { recordLog } from '../helpers/log.ts';
import { ROOT } from '../helpers/root.ts';
import { routeTable } from '../helpers/route-table.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const OPEN = { insecure: true, schemes: [], secrets: [] };
const METRIC = 'hookwright_routes';

async function startGateway(t: Ending) {
  const log = recordLog();
  const runs: string[] = [];
  const { table } = routeTable({
    routes: { open: OPEN },
    gateway: { console: { host: '127.0.0.1', port: 0, token: null } },
  });
  const agent = async ({ prompt }: { readonly prompt: string }): Promise<string> => {
    runs.push(prompt);
    return '';
  };
  const service = await createService({ table, home: tempDir(t), log, agent });
  atEnd(t, () => service.stop({ drainMs: 0 }));
  const { url } = await service.listen({ host: '127.0.0.1', port: 0 });
  const { console } = await service.status();
  const reasons = (): ReadonlySet<unknown> => new Set(log.lines.map(({ fields }) => fields.reason));
  return { url, console: console ?? '', runs, reasons };
}

/** @returns the port of a server with an empty page and a script of another origin */
async function servePage(t: Ending): Promise<number> {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>hello</p>'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

const ATTACK = readFileSync(join(ROOT, 'test/security/drive-by/attack.js'), 'utf8');

const attack = (page: Page, route: string, pages: string): Promise<readonly string[]> =>
  page.evaluate(`${ATTACK}; attack(${JSON.stringify(route)}, ${JSON.stringify(pages)})`);

describe('a page that the operator opens', { skip: NO_BROWSER }, () => {
  const VISITS: Readonly<Record<string, (gateway: URL, page: number) => readonly [visit: string, gateway: string]>> = {
    'on another port of the same host': ({ port }, page) => [`http://127.0.0.1:${page}/`, `127.0.0.1:${port}`],
    'of another site': ({ port }, page) => [`http://evil.test:${page}/`, `127.0.0.1:${port}`],
    'that names the gateway otherwise': ({ port }, page) => [`http://evil.test:${page}/`, `localhost:${port}`],
    'that names the gateway by all addresses': ({ port }, page) => [`http://evil.test:${page}/`, `0.0.0.0:${port}`],
    'whose host is rebound to the gateway': ({ port }) => [`http://evil.test:${port}/health`, `evil.test:${port}`],
  };
  for (const [name, visit] of Object.entries(VISITS)) {
    test(name, async (t) => {
      const browser = await launchBrowser(['--host-resolver-rules=MAP evil.test 127.0.0.1']);
      atEnd(t, () => browser.close());
      const gateway = await startGateway(t);
      const [url, host] = visit(new URL(gateway.url), await servePage(t));
      const page = await browser.newPage();
      await page.goto(url);
      const consoleHost = `${host.split(':')[0]}:${new URL(gateway.console).port}`;
      const read = [...(await attack(page, `http://${host}/webhooks/open`, `http://${consoleHost}`))];
      if (name.includes('rebound')) {
        await page.goto(`http://${consoleHost}/livez`);
        read.push(...(await attack(page, `http://${host}/webhooks/open`, `http://${consoleHost}`)));
      }
      assert.deepEqual(gateway.runs, []);
      const shown = read.filter(
        (text) => text.includes(METRIC) || text.includes('problems') || text.includes('accepted'),
      );
      assert.deepEqual(shown, []);
      assert.ok(
        [...gateway.reasons()].some((reason) => String(reason).startsWith('foreign_')),
        'it got as far as the route',
      );
    });
  }

  test('served by the gateway itself is allowed', async (t) => {
    const browser = await launchBrowser();
    atEnd(t, () => browser.close());
    const gateway = await startGateway(t);
    const page = await browser.newPage();
    await page.goto(`${gateway.url}/health`);
    assert.ok(
      (await attack(page, `${gateway.url}/webhooks/open`, gateway.console)).some((text) => /accepted/.test(text)),
    );
  });
});
