/**
 * Takes the screenshots of docs/images: `npx tsx scripts/console/screenshots.ts`; with a folder, it writes PNG files there, with
 * further words only of the views whose names have one of them. It starts a gateway with a week of sample events (story.ts), and opens
 * its pages on a large and a small screen, light and dark. The pages use the system's font, or Inter if it is installed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../../test/helpers/browser.ts';
import { until } from '../../test/helpers/gateway.ts';
import { buildConsole } from './build-page.ts';
import { AUTH, tellStory } from './story.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [given, ...wanted] = process.argv.slice(2);
const folder = given ?? join(ROOT, 'docs/images');

const SCREENS = {
  'wide-light': { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  'small-dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  'wide-dark': { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  'small-light': { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
} as const;
/** Views that show what others show, for a look at them: not in the documentation. */
const NOT_SHOWN = ['waits', 'running', 'custom', 'chips'];

const endings: (() => unknown)[] = [];
const { url, get, job } = await tellStory({ after: (end: () => unknown) => void endings.push(end) } as never);

const newest = async (path: string): Promise<string> => (await get(`${path}&limit=1`)).items[0]?.id ?? '';
const PLACES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['overview', 'requests', 'deliveries', 'routes', 'jobs', 'sessions', 'approvals', 'blueprints', 'nodes'].map(
      (each) => [each, each],
    ),
  ),
  event: `deliveries/${await newest('deliveries?route=triage')}`,
  ignored: `requests/${await newest('requests?outcome=ignored')}`,
  dead: `deliveries/${await newest('deliveries?state=dead')}`,
  waits: `deliveries/${await newest('deliveries?route=release-notes')}`,
  running: `deliveries/${await newest('deliveries?state=running')}`,
  approval: `approvals/${await newest('approvals?')}`,
  route: 'routes/triage',
  job: 'jobs/morning-brief',
  'job-form': `jobs/${job}`,
  custom: 'deliveries?range=custom&since=2026-01-01T00:00&until=2036-01-01T00:00&state=done',
  blueprint: 'blueprints/workday-start',
  chips: 'requests?route=triage&outcome=ignored&range=86400',
  replay: `deliveries/${await newest('deliveries?state=dead')}`,
  test: 'routes',
  menu: 'overview',
};
/** What is done before the picture. */
const ACTIONS: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  'job-form': async (page) => {
    await page.getByLabel('Schedule').fill('45 6 * * 1-5');
    await page.getByLabel('Time zone').press('Tab');
  },
  replay: (page) => page.getByRole('button', { name: /^Replay/ }).click(),
  test: (page) => page.getByRole('button', { name: 'Send test event to triage' }).click(),
  menu: async (page) => {
    const button = page.getByRole('button', { name: 'All views' });
    if (await button.isVisible()) await button.click();
  },
};

/** Files of a third of the size: the browser has the encoder. */
async function webp(page: Page, png: Buffer): Promise<Buffer> {
  const text = await page.evaluate(`(async () => {
    const image = await createImageBitmap(await (await fetch('data:image/png;base64,${png.toString('base64')}')).blob());
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
    canvas.getContext('2d').drawImage(image, 0, 0);
    return canvas.toDataURL('image/webp', 0.9);
  })()`);
  return Buffer.from(String(text).replace(/^.*,/, ''), 'base64');
}

const document = await buildConsole(ROOT);
const browser = await launchBrowser();
endings.push(() => browser.close());
mkdirSync(folder, { recursive: true });
const encoder = await browser.newPage();
for (const [screen, options] of Object.entries(SCREENS)) {
  const zone = { locale: 'en-GB', timezoneId: 'Europe/Berlin' };
  const context = await browser.newContext({ ...options, ...zone, extraHTTPHeaders: AUTH });
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(error.message));
  page.on('console', (message) => console.error(message.text()));
  // The program may not be built: the page comes from the sources.
  await page.route(`${url}/`, (route) => route.fulfill({ contentType: 'text/html', body: document }));
  for (const [name, place] of Object.entries(PLACES)) {
    const file = `${name}-${screen}`;
    const isWanted = wanted.length === 0 ? !NOT_SHOWN.includes(name) : wanted.some((each) => file.includes(each));
    if (!isWanted) continue;
    await page.goto('about:blank');
    await page.goto(`${url}/#/${place}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (/^(deliveries|requests)\//.test(place)) await page.locator('#checks').waitFor();
    await ACTIONS[name]?.(page);
    await until(async () => (await page.getByText('Loading…').count()) === 0);
    await page.waitForTimeout(300);
    await page.evaluate('scrollTo(0, 0)');
    const png = await page.screenshot({
      fullPage: !['requests', 'deliveries', 'replay', 'test', 'menu'].includes(name),
    });
    const picture = given === undefined ? await webp(encoder, png) : png;
    writeFileSync(join(folder, `console-${file}.${given === undefined ? 'webp' : 'png'}`), picture);
    const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    console.log(file, picture.length, Number(wide) > 0 ? `${wide} px too wide` : '');
  }
  await context.close();
}
for (const end of endings.reverse()) await end();
