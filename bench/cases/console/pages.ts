/** The time until a page shows its first content, and all of it, in a browser with 100,000 deliveries and as many requests. */
import type { Browser } from 'playwright-core';
import { launchBrowser } from '../../../test/helpers/browser.ts';
import { percentile } from '../../harness/stats.ts';
import type { Lab } from '../../lab.ts';
import { fillSqlite, KEEPING } from './lists.ts';
import { withConsole } from './with-console.ts';

const VIEWS = ['overview', 'requests', 'deliveries', 'routes', 'jobs', 'sessions', 'approvals', 'blueprints', 'nodes'];
const FILTERED = ['requests?route=route-7', 'requests?grep=nowhere', 'deliveries?state=dead', 'deliveries?route=rare'];
const FIRST_MS = 300;
const TIMES = 7;

/** Notes the first paint with content, and when the page has its heading and nothing in it is loading any more. */
const WATCH = `window.first = new Promise((shown) => {
  const look = (list) => list.getEntriesByName('first-contentful-paint').map(({ startTime }) => shown(startTime));
  new PerformanceObserver(look).observe({ type: 'paint', buffered: true });
});
window.whole = new Promise((shown) => {
  const look = () => {
    const main = document.querySelector('main');
    if (main?.querySelector('h1') && main.children.length > 1 && !main.innerText.includes('Loading…')) shown(performance.now());
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;

interface Shown {
  /** Milliseconds since the navigation. */
  readonly first: number;
  readonly whole: number;
  /** Processor time of the page's thread until then, in ms, which other programs do not change much. */
  readonly cpu: number;
}

async function open(browser: Browser, address: string): Promise<Shown> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  try {
    await page.addInitScript(WATCH);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
    await page.goto(address);
    const [first, whole] = (await page.evaluate('Promise.all([window.first, window.whole])')) as [number, number];
    const { metrics } = await devtools.send('Performance.getMetrics');
    const seconds = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
    return { first, whole, cpu: 1000 * seconds };
  } finally {
    await page.close();
  }
}

/** Medians: the first content, beside it the whole page, and in place of a ratio the processor time. */
export async function pages(lab: Lab): Promise<readonly (readonly string[])[]> {
  const browser = await launchBrowser();
  try {
    return await withConsole(
      lab,
      async ({ url }) => {
        const rows: string[][] = [];
        for (const view of [...VIEWS, ...FILTERED]) {
          const times: Shown[] = [];
          for (let turn = -1; turn < TIMES; turn++) {
            const shown = await open(browser, `${url}/#/${view}`);
            if (turn >= 0) times.push(shown);
          }
          const half = (of: keyof Shown): string => {
            const sorted = Float64Array.from(times.map((each) => each[of])).sort();
            return `${percentile(sorted, 0.5).toFixed(0)} ms`;
          };
          rows.push([
            `${view}: first content, whole, processor`,
            half('first'),
            half('whole'),
            half('cpu'),
            `<= ${FIRST_MS} ms`,
          ]);
        }
        return rows;
      },
      { settings: KEEPING, prepare: fillSqlite },
    );
  } finally {
    await browser.close();
  }
}
