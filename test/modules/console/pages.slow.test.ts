/** The pages of the console in a real browser: what a person does there, by keyboard alone, on a large and a small screen. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openOfflineStore } from '../../../runtime/store/sqlite/open-store.ts';
import { buildConsole } from '../../../scripts/console/build-page.ts';
import { launchBrowser, NO_BROWSER } from '../../helpers/browser.ts';
import type { TestedConsole } from '../../helpers/console.ts';
import { startConsole } from '../../helpers/console.ts';
import { until } from '../../helpers/gateway.ts';
import { ROOT } from '../../helpers/root.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** Screenshots for people to look at; not under version control. */
const ARTEFACTS = join(ROOT, 'build/artefacts/console');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const configWith = (
  messenger: string,
): string => `agent: { command: ["node", "-e", "console.log('Looks good.')"], confined: a test }
platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes:
      review:
        description: Reviews each pull request.
        events: [pull_request]
        filters:
          - { field: action, in: [opened, reopened] }
          - any:
              - { field: pull_request.draft, equals: false }
              - { field: label.name, equals: review-me }
        prompt: |
          Review {pull_request.title} by {pull_request.user.login}.
          {pull_request.body}
          Branch: {pull_request.branch}
      broken: { prompt: "{x}", deliver: telegram, deliver_extra: { chat_id: "-5" } }
      hello: { prompt: "Hello {name}" }
  telegram: { enabled: true, token: "1:a", api_base: "${messenger}" }
gateway: { console: { port: 0 } }
jobs:
  brief: { schedule: "0 8 * * *", prompt: Brief me., description: What happened in the night. }
`;

const PULL = {
  action: 'opened',
  pull_request: { title: 'Add a cache', draft: false, body: 'It is faster.', user: { login: 'ada' }, labels: ['perf'] },
};

/** Those of a day, of which the evening was busy and had a fault. */
async function addFigures(path: string): Promise<void> {
  const store = await openOfflineStore(path);
  const now = Date.now();
  const last = now - (now % 60_000);
  const changes = Array.from({ length: 96 }, (_, at) => {
    const busy = Math.round(100 + 90 * Math.sin(at / 12));
    const failed = at > 60 && at < 66 ? 40 : 0;
    const figures = { taken: busy, ignored: busy >> 1, duplicate: at % 7, refused: at % 3, failed, waiting: failed };
    const times = { half_us: 900 + busy, most_us: 2500 + 30 * busy };
    return { kind: 'add_figures', minute: last - (95 - at) * 900_000, figures: { ...figures, ...times } } as const;
  });
  await Promise.all(changes.map((change) => store.write(change)));
  await store.close();
}

const SCREENS = [
  { name: 'wide-light', width: 1280, height: 900, colorScheme: 'light' },
  { name: 'small-dark', width: 390, height: 844, colorScheme: 'dark' },
] as const;

describe('the pages of the console', { skip: NO_BROWSER, timeout: 600_000 }, () => {
  let console: TestedConsole;
  let browser: Browser;
  const endings: (() => unknown)[] = [];

  const send = async (route: string, payload: unknown, event?: string): Promise<void> => {
    const named = event === undefined ? [] : ['--event', event];
    await console.gateway.cli('webhook', 'test', route, '--payload', JSON.stringify(payload), '--yes', ...named);
  };

  before(async () => {
    mkdirSync(ARTEFACTS, { recursive: true });
    const after = (end: () => unknown): void => void endings.push(end);
    // It refuses every message: what goes there is given up.
    const messenger = createServer((_request, response) => response.writeHead(400).end('{"ok":false}'));
    await new Promise<void>((resolve) => messenger.listen(0, '127.0.0.1', resolve));
    after(() => messenger.close());
    const { port } = messenger.address() as AddressInfo;
    const home = tempDir({ after } as never);
    await addFigures(join(home, 'state.db'));
    console = await startConsole({ after } as never, configWith(`http://127.0.0.1:${port}`), {}, home);
    browser = await launchBrowser();
    await send('review', PULL, 'pull_request');
    await send('review', { ...PULL, action: 'closed' }, 'pull_request');
    await send('hello', { name: 'Ada' });
    await send('broken', { x: 'Nobody gets this.' });
    await until(async () => (await console.get<'listDeliveries'>('/api/deliveries?state=done')).items.length === 2);
  });

  after(async () => {
    await browser?.close();
    for (const end of endings.reverse()) await end();
  });

  it('has at most 80 KiB, compressed', async () => {
    const size = gzipSync(await buildConsole(ROOT), { level: 9 }).length;
    assert.ok(size <= 80 * 1024, `${size} bytes`);
  });

  for (const { name, width, height, colorScheme } of SCREENS) {
    describe(name, () => {
      let context: BrowserContext;
      let page: Page;
      const faults: string[] = [];
      const asked: string[] = [];

      before(async () => {
        context = await browser.newContext({ viewport: { width, height }, colorScheme });
        page = await context.newPage();
        page.on('pageerror', (error) => faults.push(error.message));
        page.on('console', (message) => faults.push(message.text()));
        page.on('request', (request) => asked.push(request.url()));
        await page.goto(`${console.url}/`);
      });

      after(async () => {
        await context.close();
        assert.deepEqual(faults, []);
        assert.deepEqual(
          asked.filter((url) => !url.startsWith(console.url) && !url.startsWith('data:')),
          [],
        );
      });

      /** Looks at what is shown: a picture, and what a person with a screen reader would stumble over. */
      const look = async (what: string): Promise<void> => {
        await page.screenshot({ path: join(ARTEFACTS, `${name}-${what}.png`), fullPage: true });
        const found = (await page.evaluate(
          `${AXE}; axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, at: nodes.map(({ target }) => target.join(' ')) })))`,
        )) as { readonly impact: string }[];
        assert.deepEqual(
          found.filter(({ impact }) => impact === 'serious' || impact === 'critical'),
          [],
          what,
        );
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        assert.ok((overflow as number) <= 0, `${what} is ${overflow} px too wide`);
      };

      const VIEWS = ['Overview', 'Requests', 'Deliveries', 'Routes', 'Jobs'];
      for (const view of VIEWS) {
        it(`shows ${view}`, async () => {
          await page.getByRole('navigation').getByRole('link', { name: view }).click();
          await page.getByRole('heading', { level: 1, name: view }).waitFor();
          await page.getByText('Loading…').waitFor({ state: 'detached' });
          await look(view.toLowerCase());
        });
      }

      it('shows why an event was ignored', async () => {
        await page.getByRole('navigation').getByRole('link', { name: 'Requests' }).click();
        await page.getByRole('link', { name: /ignored: filter/ }).click();
        await page.getByText('the stage filter').waitFor();
        await look('request');
      });

      it('follows an event from its request to its answer', async () => {
        await page.getByRole('navigation').getByRole('link', { name: 'Requests' }).click();
        await page.getByRole('link', { name: /review pull_request accepted/ }).click();
        await page.getByRole('link', { name: /delivery/ }).click();
        await page.getByText('Looks good.').first().waitFor();
        await look('delivery');
      });
    });
  }
});
