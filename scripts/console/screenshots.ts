/**
 * Takes the screenshots of docs/images: `npx tsx scripts/console/screenshots.ts [<folder>] [<view> …]`. It starts a gateway with a
 * day of sample events (story.ts), and opens its pages on a large and a small screen, light and dark.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchBrowser } from '../../test/helpers/browser.ts';
import { until } from '../../test/helpers/gateway.ts';
import { buildConsole } from './build-page.ts';
import { AUTH, tellStory } from './story.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [folder = join(ROOT, 'docs/images'), ...wanted] = process.argv.slice(2);

const SCREENS = {
  'wide-light': { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  'small-dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  'wide-dark': { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  'small-light': { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
} as const;
const ALL = Object.keys(SCREENS);
/** The pictures of the documentation; others are taken by name. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  overview: ['wide-light', 'small-dark'],
  requests: ['wide-light', 'small-dark'],
  event: ['wide-light', 'small-dark'],
  approval: ALL,
  routes: ['wide-dark'],
  'job-form': ALL,
  blueprint: ALL,
};

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
};

const document = await buildConsole(ROOT);
const browser = await launchBrowser();
endings.push(() => browser.close());
mkdirSync(folder, { recursive: true });
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
    const isShown = SHOWN[name]?.includes(screen) === true;
    const isWanted = wanted.length === 0 ? isShown : wanted.some((each) => file.includes(each));
    if (!isWanted) continue;
    await page.goto(`${url}/#/${place}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    if (/^(deliveries|requests)\//.test(place)) await page.locator('#checks').waitFor();
    if (name === 'job-form') await page.getByLabel('Schedule').fill('45 6 * * 1-5');
    if (name === 'job-form') await page.getByLabel('Time zone').press('Tab');
    await until(async () => (await page.getByText('Loading…').count()) === 0);
    await page.waitForTimeout(300);
    await page.evaluate('scrollTo(0, 0)');
    const picture = await page.screenshot({ fullPage: name !== 'requests' });
    writeFileSync(join(folder, `console-${file}.png`), picture);
    const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    console.log(file, picture.length, Number(wide) > 0 ? `${wide} px too wide` : '');
  }
  await context.close();
}
for (const end of endings.reverse()) await end();
