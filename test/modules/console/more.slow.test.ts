/** "Load more" by keyboard: the focus stays on the button, and goes to the first new row after the last page. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, NO_BROWSER } from '../../helpers/browser.ts';
import { startConsole } from '../../helpers/console.ts';
import { until } from '../../helpers/gateway.ts';
import { hasFocus, tabTo } from '../../helpers/keyboard.ts';
import { WORDS } from './words.ts';

const SECRET = 'a-literal-secret-for-tests';
const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    rate_limit: 100000
    routes:
      hello: { prompt: "{n}", agent: none, deliver: log }
gateway: { capture_per_second: 100000, console: { port: 0 } }
`;
const PAGE = 50;

describe('Load more', { skip: NO_BROWSER }, () => {
  let browser: Browser;
  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser?.close());

  const begin = async (page: Page, address: string): Promise<void> => {
    await page.goto(address);
    await page
      .locator('tbody tr')
      .nth(PAGE - 1)
      .waitFor();
  };
  const rows = (page: Page) => page.locator('tbody tr');

  it('keeps the focus, also on the last page and when that has nothing new', async (t) => {
    const { gateway, url, get } = await startConsole(t, CONFIG);
    const headers = { 'content-type': 'application/json', 'x-gitlab-token': SECRET };
    const send = (n: number) =>
      fetch(`${gateway.url}/webhooks/hello`, { method: 'POST', headers, body: JSON.stringify({ n }) });
    for (let n = 0; n < 2 * PAGE + 10; n++) await until(async () => (await send(n)).status === 202);
    await until(async () => (await get<'listRequests'>('/api/requests?limit=200')).items.length === 2 * PAGE + 10);
    await until(async () => (await get<'listDeliveries'>('/api/deliveries?state=done&limit=200')).items.length > 100);
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
    ]) {
      const page = await browser.newPage({ viewport });
      for (const view of ['requests', 'deliveries']) {
        await begin(page, `${url}/#/${view}`);
        const more = page.getByRole('button', { name: WORDS.loadMore });
        await tabTo(page, more);
        await page.keyboard.press('Enter');
        await rows(page)
          .nth(2 * PAGE - 1)
          .waitFor();
        assert.ok(await hasFocus(more), `${view}: the button keeps the focus`);
        await page.keyboard.press('Enter');
        await rows(page)
          .nth(2 * PAGE)
          .waitFor();
        await until(() =>
          hasFocus(
            rows(page)
              .nth(2 * PAGE)
              .locator('a')
              .first(),
          ),
        );
        assert.equal(await more.count(), 0);
      }

      // A page without matches that is the last one.
      await begin(page, `${url}/#/requests`);
      await page.route(/\/api\/requests\?.*cursor=/, (route) =>
        route.fulfill({ json: { items: [], next: null, not_kept: 0 } }),
      );
      const more = page.getByRole('button', { name: WORDS.loadMore });
      await tabTo(page, more);
      await page.keyboard.press('Enter');
      await more.waitFor({ state: 'detached' });
      await until(() =>
        hasFocus(
          rows(page)
            .nth(PAGE - 1)
            .locator('a')
            .first(),
        ),
      );
      await page.close();
    }
  });
});
