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

/** Notes when the page has its heading, and nothing in it is loading any more. */
const WATCH = `window.whole = new Promise((shown) => {
  const look = () => {
    const main = document.querySelector('main');
    if (main?.querySelector('h1') && main.children.length > 1 && !main.innerText.includes('Loading…')) shown(performance.now());
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})`;

/** Milliseconds since the navigation. */
interface Shown {
  readonly first: number;
  readonly whole: number;
}

async function open(browser: Browser, address: string): Promise<Shown> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  try {
    await page.addInitScript(WATCH);
    await page.goto(address);
    return (await page.evaluate(
      "window.whole.then((whole) => ({ whole, first: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Infinity }))",
    )) as Shown;
  } finally {
    await page.close();
  }
}

/** The figure is the median of the first content, and beside it is the median of the whole page. */
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
          rows.push([`first content of ${view}; whole`, half('first'), half('whole'), '', `<= ${FIRST_MS} ms`]);
        }
        return rows;
      },
      { settings: KEEPING, prepare: fillSqlite },
    );
  } finally {
    await browser.close();
  }
}
