/** Live pages: usable under load, and in six tabs at once. */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright-core';
import { launchBrowser, NO_BROWSER } from '../../helpers/browser.ts';
import { startConsole } from '../../helpers/console.ts';
import { WORDS } from './words.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    routes:
      open: { secret: INSECURE_NO_AUTH, prompt: "{n}", rate_limit: 1000000 }
gateway: { console: { port: 0 }, capture_per_second: 1 }
`;

/** Events to send per second, if the machine is fast enough. */
const RATE = 1000;
const MOST_OPEN = 64;
const EVERY_MS = 10;

/** Sends events at the given rate, each once, until it ends. Resolves with the actual rate per second. */
async function flood(url: string, isOver: () => boolean): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_OPEN });
  const began = performance.now();
  let sent = 0;
  let open = 0;
  const send = (): void => {
    open++;
    const asked = request(url, { agent, method: 'POST', headers: { 'content-type': 'application/json' } });
    asked.once('close', () => open--).on('error', () => {});
    asked.once('response', (response) => response.resume());
    asked.end(`{"n":${sent++}}`);
  };
  while (!isOver()) {
    const due = ((performance.now() - began) / 1000) * RATE;
    while (sent < due && open < MOST_OPEN) send();
    await sleep(EVERY_MS);
  }
  const rate = (sent / (performance.now() - began)) * 1000;
  while (open > 0) await sleep(EVERY_MS);
  agent.destroy();
  return rate;
}

async function openBrowser(t: TestContext): Promise<BrowserContext> {
  const browser = await launchBrowser();
  t.after(() => browser.close());
  return browser.newContext();
}

async function go(page: Page, view: string): Promise<void> {
  await page.getByRole('link', { name: view, exact: true }).first().click();
  await page.getByRole('heading', { level: 1, name: view }).waitFor();
}

describe('live pages', { skip: NO_BROWSER, timeout: 3_600_000 }, () => {
  it(`shows the newest of ${RATE} events a second, and still responds to clicks`, async (t) => {
    const console = await startConsole(t, CONFIG);
    const page = await (await openBrowser(t)).newPage();
    await page.goto(`${console.url}/#/deliveries`);
    await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor();
    let isOver = false;
    const end = (): void => {
      isOver = true;
    };
    t.after(end);
    const flooded = flood(`${console.gateway.url}/webhooks/open`, () => isOver);
    await page.getByRole('button', { name: WORDS.loadMore, exact: true }).waitFor();
    for (const view of ['Requests', 'Overview', 'Deliveries', 'Routes', 'Deliveries']) await go(page, view);
    end();
    t.diagnostic(`${Math.round(await flooded)} events a second`);
    assert.ok((await page.getByRole('row').count()) < 200, 'the list does not grow');
    await go(page, 'Requests');
    await page.getByText(WORDS.notCaptured).waitFor();
  });

  it('works in six tabs with six connections, because hidden tabs hold none', async (t) => {
    const console = await startConsole(t, CONFIG);
    const context = await openBrowser(t);
    // A headless browser reports every tab as visible; the test makes only one visible, as in a window.
    await context.addInitScript(`
      globalThis.isHidden = false;
      Object.defineProperty(document, 'hidden', { get: () => isHidden });
    `);
    const tabs: Page[] = [];
    const look = async (shown: Page): Promise<void> => {
      for (const tab of tabs) {
        const isHidden = tab !== shown;
        await tab.evaluate(`isHidden = ${isHidden}; document.dispatchEvent(new Event('visibilitychange'))`);
      }
    };
    for (let at = 0; at < 6; at++) {
      const tab = await context.newPage();
      tabs.push(tab);
      await tab.goto(`${console.url}/#/deliveries`);
      await look(tab);
      await tab.getByText(WORDS.noDelivery).waitFor();
    }
    for (const tab of tabs) {
      await look(tab);
      await go(tab, 'Routes');
      await tab.getByRole('link', { name: 'open', exact: true }).waitFor();
      await go(tab, 'Deliveries');
    }
    // The visible tab updates at once, the others when they become visible.
    const body = { method: 'POST', body: '{"n":1}', headers: { 'content-type': 'application/json' } };
    assert.equal((await fetch(`${console.gateway.url}/webhooks/open`, body)).status, 202);
    for (const tab of [tabs[5], tabs[0], tabs[3]] as readonly Page[]) {
      await look(tab);
      await tab.getByRole('cell', { name: 'open', exact: true }).waitFor();
    }
  });
});
