/** While events pour in, a page that follows them stays usable, and says that it shows a sample. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { launchBrowser, NO_BROWSER } from '../../helpers/browser.ts';
import { startConsole } from '../../helpers/console.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    routes:
      open: { secret: INSECURE_NO_AUTH, prompt: "{n}", rate_limit: 1000000 }
gateway: { console: { port: 0 } }
`;

it('follows a flood of events by samples, and a click is answered meanwhile', {
  skip: NO_BROWSER,
  timeout: 600_000,
}, async (t) => {
  const console = await startConsole(t, CONFIG);
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`${console.url}/#/deliveries`);
  await page.getByRole('heading', { level: 1, name: 'Deliveries' }).waitFor();
  let isOver = false;
  let sent = 0;
  const flood = async (): Promise<void> => {
    while (!isOver) {
      await fetch(`${console.gateway.url}/webhooks/open`, {
        ...{ method: 'POST', body: `{"n":${sent++}}`, headers: { 'content-type': 'application/json' } },
      }).then((response) => response.arrayBuffer());
    }
  };
  const floods = Array.from({ length: 8 }, flood);
  const began = performance.now();
  await page.getByText('this is a sample').waitFor();
  const rate = (sent / (performance.now() - began)) * 1000;
  const times: number[] = [];
  for (const view of ['Requests', 'Overview', 'Deliveries', 'Routes', 'Deliveries']) {
    const clicked = performance.now();
    await page.getByRole('link', { name: view, exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name: view }).waitFor();
    times.push(performance.now() - clicked);
  }
  isOver = true;
  await Promise.all(floods);
  t.diagnostic(`${Math.round(rate)} events a second; a click took at most ${Math.round(Math.max(...times))} ms`);
  assert.ok((await page.getByRole('listitem').count()) < 200, 'the list does not grow');
});
