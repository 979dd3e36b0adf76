/** The pages of the console in a real browser: nine tasks by keyboard alone, on a large and a small screen, light and dark. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { buildConsole } from '../../../scripts/console/build-page.ts';
import { launchBrowser, NO_BROWSER } from '../../helpers/browser.ts';
import type { TestedConsole } from '../../helpers/console.ts';
import { startConsole } from '../../helpers/console.ts';
import { until } from '../../helpers/gateway.ts';
import { hasFocus, tabTo } from '../../helpers/keyboard.ts';
import { openOfflineStore } from '../../helpers/rescued-store.ts';
import { ROOT } from '../../helpers/root.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { WORDS } from './words.ts';

/** Screenshots for people to look at; not under version control. */
const TOKEN = 'token-of-the-operators';
const AUTH = { authorization: `Bearer ${TOKEN}` };

const ARTEFACTS = join(ROOT, 'build/artefacts/console');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Names of the maximum length. */
const MANY = Array.from({ length: 12 }, (_, at) => `z${at}-${'of-a-team-with-a-long-name-'.repeat(3)}`.slice(0, 64));

const configWith = (
  messenger: string,
): string => `agent: { command: ["node", "-e", "console.log('Looks good.')"], confined: a test }
agents: { slow: { command: ["node", "-e", "setTimeout(() => {}, 1e9)"], confined: a test, timeout_seconds: 3600 } }
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
      held:
        session_key: "{key}"
        agent: slow
        prompt: "{text}"
      gated: { script: gate.sh, prompt: "{text}" }
      told: { prompt: "{text}", deliver: telegram, deliver_extra: { chat_id: "-6" }, deliver_only: true }
      post: { prompt: "{text}", deliver: telegram, deliver_extra: { chat_id: "-7" }, approve: true }
${MANY.map((name) => `      ${name}: { description: "${'Long words. '.repeat(30)}", prompt: "{text}", deliver: log }\n`).join('')}
  telegram: { enabled: true, token: "1:a", api_base: "${messenger}" }
gateway: { console: { port: 0, token: ${TOKEN} }, drain_seconds: 0, approvals: { deliver: log } }
jobs:
  brief: { schedule: "0 8 * * *", prompt: Brief me., description: What happened in the night. }
`;

/** The line of the configuration that begins with this text. */
const lineOf = (text: string): number =>
  configWith('')
    .split('\n')
    .findIndex((line) => line.startsWith(text)) + 1;

const PULL = {
  action: 'opened',
  pull_request: { title: 'Add a cache', draft: false, body: 'It is faster.', user: { login: 'ada' }, labels: ['perf'] },
};

/** Adds the figures of a day with a busy evening and some failures. */
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
  { name: 'wide', width: 1280, height: 900 },
  { name: 'small', width: 390, height: 844 },
] as const;
const VIEWS = ['Overview', 'Requests', 'Deliveries', 'Routes', 'Jobs', 'Sessions', 'Approvals', 'Blueprints', 'Nodes'];

describe('the pages of the console', { skip: NO_BROWSER, timeout: 3_600_000 }, () => {
  let console: TestedConsole;
  let browser: Browser;
  let accepts = false;
  const endings: (() => unknown)[] = [];

  const send = async (route: string, payload: unknown, event?: string): Promise<void> => {
    const named = event === undefined ? [] : ['--event', event];
    await console.gateway.cli('webhook', 'test', route, '--payload', JSON.stringify(payload), '--yes', ...named);
  };
  const inState = async (state: string): Promise<number> =>
    (await console.get<'listDeliveries'>(`/api/deliveries?state=${state}`)).items.length;

  before(async () => {
    mkdirSync(ARTEFACTS, { recursive: true });
    const after = (end: () => unknown): void => void endings.push(end);
    const messenger = createServer((_request, response) => {
      if (accepts) response.end('{"ok":true,"result":{"message_id":1}}');
      else response.writeHead(400).end('{"ok":false}');
    });
    await new Promise<void>((resolve) => messenger.listen(0, '127.0.0.1', resolve));
    after(() => messenger.close());
    const { port } = messenger.address() as AddressInfo;
    const home = tempDir({ after } as never);
    mkdirSync(join(home, 'scripts'));
    writeFileSync(join(home, 'scripts/gate.sh'), "#!/bin/sh\necho '[SILENT]'\n", { mode: 0o700 });
    await addFigures(join(home, 'state.db'));
    console = await startConsole({ after } as never, configWith(`http://127.0.0.1:${port}`), AUTH, home);
    browser = await launchBrowser();
    await send('review', PULL, 'pull_request');
    await send('review', { ...PULL, action: 'closed' }, 'pull_request');
    await send('hello', { name: 'Ada' });
    await until(async () => (await inState('done')) === 2);
    // The second waits for its turn.
    for (const text of ['first', 'second']) await send('held', { key: 'k', text });
    await until(async () => (await inState('running')) === 1);
  });

  after(async () => {
    await browser?.close();
    for (const end of endings.reverse()) await end();
  });

  it('has at most 110 KB, compressed', async () => {
    const size = gzipSync(await buildConsole(ROOT), { level: 9 }).length;
    assert.ok(size <= 110_000, `${size} bytes`);
  });

  describe('one request', () => {
    let page: Page;
    before(async () => {
      page = await browser.newPage({ extraHTTPHeaders: AUTH });
    });
    after(() => page.close());

    /** Opens the newest captured request of a route with this outcome. */
    const open = async (route: string, outcome: string): Promise<void> => {
      const [newest] = await until(async () => {
        const { items } = await console.get<'listRequests'>(`/api/requests?route=${route}&outcome=${outcome}`);
        return items.length > 0 && items;
      });
      await page.goto(`${console.url}/#/requests/${newest?.id}`);
    };
    const decided = (): Promise<string> => page.getByRole('status').first().innerText();
    const shows = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

    it('shows that the script ignored it, the output, and how to run the script again', async () => {
      await send('gated', { text: 'x' });
      await open('gated', 'ignored');
      await shows(WORDS.scriptDecided);
      assert.match(await decided(), /^Script: stopped here\n.*\[SILENT\]/s);
      await shows(WORDS.scriptStage);
      await shows(WORDS.runScript);
      assert.equal(await page.getByText(WORDS.otherOutcome).count(), 0);
    });

    it('shows that its message could not be delivered while the sender waited', async () => {
      accepts = false;
      await send('told', { text: 'x' });
      await open('told', 'delivery_failed');
      await shows(WORDS.notDelivered);
      assert.match(await decided(), /^Dispatch: stopped here/);
      // The delivery is on the same page.
      await page.getByRole('link', { name: WORDS.deliveryId }).click();
      await page.getByRole('heading', { name: WORDS.prompt }).waitFor();
      // Other tests count dead deliveries.
      accepts = true;
      await console.change<'replayDeliveries'>('/api/deliveries/replay', { state: 'dead' });
      await until(async () => (await inState('dead')) === 0);
    });

    it('has no link to a delivery for an event of a paused route, but one to resume it', async () => {
      await console.change<'pauseRoute'>('/api/routes/told/pause', { seconds: 3600 });
      await send('told', { text: 'y' });
      await open('told', 'overloaded');
      await shows(WORDS.endsPause);
      assert.equal(await page.getByRole('link', { name: WORDS.deliveryId }).count(), 0);
      await shows(WORDS.mayBeAccepted);
      await console.change<'resumeRoute'>('/api/routes/told/resume');
    });

    it('offers no replay of a delivery that has not ended', async () => {
      const [running] = (await console.get<'listDeliveries'>('/api/deliveries?state=running')).items;
      await page.goto(`${console.url}/#/deliveries/${running?.id}`);
      await shows(WORDS.runningFor);
      await page.locator('#checks').waitFor();
      assert.equal(await page.getByRole('button', { name: WORDS.anyReplay }).count(), 0);
    });

    it('goes back with unfinished input in a filter', async () => {
      await page.goto(`${console.url}/#/overview`);
      await page.getByRole('link', { name: 'Requests', exact: true }).click();
      await page.getByLabel(WORDS.search, { exact: true }).pressSequentially('revieww');
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      assert.match(page.url(), /#\/overview$/);
    });
  });

  for (const { name, width, height } of SCREENS) {
    describe(name, () => {
      let context: BrowserContext;
      let page: Page;
      let clicks = 0;
      const faults: string[] = [];
      const asked: string[] = [];

      before(async () => {
        context = await browser.newContext({ extraHTTPHeaders: AUTH, viewport: { width, height } });
        await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: console.url });
        page = await context.newPage();
        page.on('pageerror', (error) => faults.push(error.message));
        page.on('console', (message) => faults.push(message.text()));
        page.on('request', (request) => asked.push(request.url()));
      });

      after(async () => {
        await context.close();
        // The browser logs rejected requests itself.
        assert.deepEqual(
          faults.filter((text) => !text.startsWith('Failed to load resource')),
          [],
        );
        assert.deepEqual(
          asked.filter((url) => !url.startsWith(console.url) && !url.startsWith('data:')),
          [],
        );
      });

      const begin = async (): Promise<void> => {
        clicks = 0;
        await page.goto(`${console.url}/#/overview`);
        await page.reload();
        await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      };

      /** Goes to an element by Tab and presses Enter there. @param role how a screen reader names it; `row`: the link of a row of a table */
      const press = async (role: 'link' | 'button' | 'row', wanted: string | RegExp): Promise<void> => {
        const named = page.getByRole(role, { name: wanted, exact: typeof wanted === 'string' });
        const element = role === 'row' ? rowOf(wanted).locator('a.whole') : named.first();
        await tabTo(page, element);
        await page.keyboard.press('Enter');
        clicks++;
      };

      /** Types over the value of a field by keyboard, or chooses it. */
      const type = async (label: string, value: string): Promise<void> => {
        const field = page.getByLabel(label);
        await tabTo(page, field);
        if (label === 'Target') await field.selectOption(value);
        else {
          await page.keyboard.press('ControlOrMeta+a');
          await page.keyboard.type(value);
          await page.keyboard.press('Tab');
        }
      };

      /** On a small screen a row is a card. */
      const rowOf = (wanted: string | RegExp) => page.locator('tbody tr').filter({ hasText: wanted }).first();

      const focused = (role: 'button' | 'heading', name: string): Promise<unknown> =>
        until(() => hasFocus(page.getByRole(role, { name })));

      const shows = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

      /** Each step has its time since the first one, and leads somewhere. */
      const everyStep = async (): Promise<void> => {
        const steps = page.locator('.timeline > li');
        await steps.first().waitFor();
        // At once, because steps are added while the page loads.
        const read = (await page.evaluate(
          `[...document.querySelectorAll('.timeline > li')].map((li) => [li.querySelector('time').innerText, li.querySelectorAll('a, button').length])`,
        )) as [time: string, links: number][];
        const [[first] = [''], ...others] = read;
        assert.match(first, /^\d\d:\d\d:\d\d$/);
        for (const [time] of others) assert.match(time, /^\+\d+(\.\d+)? (ms|s|min)/);
        for (const [, links] of read) assert.equal(links, 1);
      };

      /** Takes screenshots, and checks accessibility and width, in both themes. */
      const look = async (what: string): Promise<void> => {
        for (const colorScheme of ['dark', 'light'] as const) {
          await page.emulateMedia({ colorScheme });
          await page.screenshot({ path: join(ARTEFACTS, `${name}-${colorScheme}-${what}.png`), fullPage: true });
          const found = (await page.evaluate(
            `${AXE}; axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, at: nodes.map(({ target }) => target.join(' ')) })))`,
          )) as { readonly impact: string }[];
          assert.deepEqual(
            found.filter(({ impact }) => impact === 'serious' || impact === 'critical'),
            [],
            `${what}, ${colorScheme}`,
          );
        }
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        assert.ok((overflow as number) <= 0, `${what} is ${overflow} px too wide`);
      };

      const done = async (what: string): Promise<void> => {
        assert.ok(clicks <= 3, `${what} takes ${clicks} clicks`);
        await look(what);
      };

      for (const view of VIEWS) {
        it(`shows ${view}`, async () => {
          await begin();
          await press('link', view);
          await page.getByRole('heading', { level: 1, name: view }).waitFor();
          await until(async () => (await page.getByText(WORDS.loading).count()) === 0);
          await look(view.toLowerCase());
        });
      }

      it('shows at least twenty rows, draws its charts, and has no sideways scrolling on 320 px', async () => {
        await begin();
        await page.getByRole('img', { name: WORDS.chart }).locator('canvas').waitFor();
        await page.getByText(WORDS.asTable).first().click();
        await page.locator('details[open] tbody tr').first().waitFor();
        // The number of an outcome is the legend of its bars.
        const tiles = page.locator('.numbers a');
        assert.deepEqual([await tiles.count(), await tiles.locator('svg').count()], [5, 5]);
        await page.getByRole('img', { name: WORDS.chart }).hover();
        await shows(/^\d\d:\d\d UTC: accepted \d/);
        await look('chart-table');
        await page.setViewportSize({ width: 320, height: 800 });
        for (const view of VIEWS) {
          await page.goto(`${console.url}/#/${view.toLowerCase()}`);
          await page.getByRole('heading', { level: 1, name: view }).waitFor();
          await until(async () => (await page.getByText(WORDS.loading).count()) === 0);
          const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
          assert.ok((overflow as number) <= 0, `${view} is ${overflow} px too wide on 320 px`);
        }
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.goto(`${console.url}/#/requests`);
        await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
        await page.locator('tbody tr').first().waitFor();
        const [top, row] = (await page.evaluate(
          "[document.querySelector('tbody').getBoundingClientRect().top, document.querySelector('tbody tr').getBoundingClientRect().height]",
        )) as [number, number];
        assert.ok((800 - top) / row >= 20, `${(800 - top) / row} rows`);
        await page.setViewportSize({ width, height });
      });

      it('offers the routes in a filter, and rejects an unknown one of the address', async () => {
        await page.goto(`${console.url}/#/requests?route=revoew`);
        await shows(`${WORDS.noRoute} "revoew"`);
        await look('no-route');
        // A small screen shows the filters on request.
        if (name === 'small') await press('button', WORDS.filters);
        // Unfinished input survives a reload of the list.
        const search = page.getByLabel(WORDS.search, { exact: true });
        await search.pressSequentially('clo');
        const again = page.waitForResponse((response) => response.url().includes('/api/requests'));
        await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
        await again;
        assert.equal(await search.inputValue(), 'clo');
        const field = page.getByLabel(WORDS.filterRoute, { exact: true });
        // All of them, no choice, and the one of the address.
        await until(async () => (await field.locator('option').count()) === 9 + MANY.length);
        await field.selectOption('review');
        await page.getByText(WORDS.noRoute).waitFor({ state: 'detached' });
        await shows('ignored: filter');
        await look('chips');
        // The address has the filter, its field is the only chip, and a button in it removes it.
        assert.equal(await page.locator('.chip').count(), 1);
        assert.match(page.url(), /route=review/);
        await page.getByRole('button', { name: WORDS.removeFilter }).press('Enter');
        await until(async () => !page.url().includes('route='));
      });

      it('finds deliveries by a text, and shows where each goes', async () => {
        await page.goto(`${console.url}/#/deliveries`);
        if (name === 'small') await press('button', WORDS.filters);
        await type(WORDS.search, 'PULL_req');
        await until(async () => (await page.locator('tbody tr').count()) === 1);
        await rowOf(/pull_request.*done.*review.*log.*\d m?s/s).waitFor();
        await done('found');
      });

      it('shows what a route does and its newest requests, and of a job its runs', async () => {
        await begin();
        await press('link', 'Routes');
        await press('row', 'review');
        await shows(
          'Only if action is "opened" or "reopened" and (pull_request.draft is false or label.name is "review-me").',
        );
        await shows(/^config\.yaml:\d+$/);
        await rowOf(/pull_request.*done/s).waitFor();
        await rowOf(/pull_request.*ignored/s).waitFor();
        await done('route');
        await console.change<'runJob'>('/api/jobs/brief/run');
        await page.goto(`${console.url}/#/jobs/brief`);
        await rowOf(/\(by hand\).*Looks good\..*done/s).waitFor();
        await look('job');
      });

      it('shows why an event was ignored', async () => {
        await begin();
        await press('link', 'Requests');
        await press('row', /ignored: filter/);
        // The reason is at the top and nowhere else; the stage that decided lists the conditions. Nothing of it is an error.
        await until(async () => (await page.getByText(WORDS.ignored).count()) === 1);
        await page.locator('#checks').getByText(WORDS.condition).waitFor();
        assert.equal(await page.getByText(WORDS.requires).count(), 1);
        assert.equal(await page.locator('main .bad').count(), 0);
        await shows(WORDS.notMet);
        await everyStep();
        await done('ignored');
        await press('button', '"closed"');
        await shows('{action}');
      });

      it('finds a dead delivery and replays it', async () => {
        accepts = false;
        await send('broken', { x: 'This is not delivered.' });
        await until(async () => (await inState('dead')) === 1);
        accepts = true;
        await begin();
        // The target rejects it again until it is corrected, so the overview offers no replay.
        await shows(WORDS.isDead);
        assert.equal(await page.getByRole('button', { name: WORDS.replayDead }).count(), 0);
        await until(async () => /^\(\d+\) Overview/.test(await page.title()));
        await press('link', WORDS.review);
        await press('button', WORDS.replayOne);
        // The dialog shows what is sent.
        await page.getByRole('dialog').getByText('Looks good.').waitFor();
        await page.getByRole('dialog').getByRole('button', { name: WORDS.handleAgain }).waitFor();
        await shows(WORDS.failsAgain);
        await look('replay-dialog');
        await press('button', WORDS.sendAgain);
        await shows(WORDS.replayed);
        await until(async () => (await inState('dead')) === 0);
        await done('replay');
      });

      it('says why a delivery is dead, where it was sent and where that is set, and warns of a replay in vain', async () => {
        accepts = false;
        await send('broken', { x: 'Not delivered either.' });
        const [dead] = await until(async () => {
          const { items } = await console.get<'listDeliveries'>('/api/deliveries?state=dead');
          return items.length === 1 && items;
        });
        // The list has the whole reason.
        await page.goto(`${console.url}/#/deliveries?state=dead`);
        await page.locator('.reason').waitFor();
        const cut = '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector(".reason"))';
        assert.ok(((await page.evaluate(cut)) as number) <= 0);
        await page.goto(`${console.url}/#/deliveries/${dead?.id}`);
        await shows(WORDS.notDelivered);
        await shows(WORDS.whereSent('-5', lineOf('      broken:')));
        await shows(WORDS.whyNotRetried);
        await everyStep();
        const replay = page.getByRole('button', { name: WORDS.replayOne });
        assert.equal(await replay.getAttribute('class'), '');
        await look('dead');
        // With the current configuration, which still has the wrong address, as a new event.
        await replay.click();
        await page.getByRole('dialog').getByRole('button', { name: WORDS.handleAgain }).click();
        await page.waitForURL(/#\/requests\//);
        await until(async () => (await inState('dead')) === 2);
        accepts = true;
        await console.change<'replayDeliveries'>('/api/deliveries/replay', { state: 'dead' });
        await until(async () => (await inState('dead')) === 0);
      });

      it('sends a test event', async () => {
        await begin();
        await press('link', 'Routes');
        await press('button', WORDS.sendTest);
        await press('button', WORDS.send);
        await shows(WORDS.answered);
        await done('test-event');
      });

      it('pauses a route for an hour, and a job', async () => {
        await begin();
        await press('link', 'Routes');
        await press('button', WORDS.pause('hello'));
        await press('button', WORDS.hour);
        await shows(WORDS.pausedUntil('hello'));
        await done('paused-route');
        await press('button', WORDS.resume('hello'));
        await shows(WORDS.resumed('hello'));
        await focused('button', WORDS.pause('hello'));
        await begin();
        await press('link', 'Jobs');
        await press('button', WORDS.pause('brief'));
        await press('button', WORDS.hour);
        await shows(WORDS.pausedUntil('brief'));
        await done('paused-job');
        await press('button', WORDS.resume('brief'));
        await shows(WORDS.resumed('brief'));
      });

      it('creates a job from a blueprint', async () => {
        await begin();
        await press('link', 'Blueprints');
        await press('row', /Morning|brief/i);
        // What the job would be, and the targets to choose from.
        await shows(/^every day at 08:00/);
        await until(async () => (await page.getByText(/^[A-Z][a-z]{2} \d{4}-\d\d-\d\d 08:00$/).count()) === 3);
        await page.locator('option[value=log]').waitFor({ state: 'attached' });
        await page.getByRole('region', { name: WORDS.prompt }).waitFor();
        await press('button', WORDS.createJob);
        await shows(WORDS.jobCreated);
        await done('blueprint');
      });

      it('changes a job, after it has said what changes, and removes it after a question', async () => {
        const { id } = await console.change<'createBlueprintJob'>('/api/blueprints/morning-brief/jobs', {
          ...{ name: `edited-${name}`, timezone: 'Europe/Berlin', values: { time: '07:00', deliver: 'origin' } },
        });
        await begin();
        await press('link', 'Jobs');
        await press('row', `edited-${name}`);
        await type('Schedule', '0 6 * * 1');
        await type('Target', 'log');
        await type('Time zone', 'Europe/Berlni');
        await shows(WORDS.noZone);
        await look('job-refused');
        await type('Time zone', 'Europe/Paris');
        await shows(/every day at 07:00 → Monday at 06:00/);
        await shows(/^Monday at 06:00/);
        await until(async () => (await page.getByText(/^Mon \d{4}-\d\d-\d\d 06:00$/).count()) >= 3);
        await look('job-changes');
        await press('button', WORDS.saveJob);
        await shows(WORDS.jobChanged);
        await done('job-changed');
        const job = await console.get<'getJob'>(`/api/jobs/${id}`);
        assert.deepEqual([job.schedule, job.timezone, job.deliver], ['0 6 * * 1', 'Europe/Paris', ['log']]);
        await press('row', `edited-${name}`);
        await press('button', WORDS.remove(`edited-${name}`));
        await shows(WORDS.neverAgain);
        await look('job-remove');
        await press('button', 'Remove');
        await shows(WORDS.removed(`edited-${name}`));
        await focused('heading', 'Jobs');
      });

      it('saves what was just typed by one click, although the preview loads again', async () => {
        const { id } = await console.change<'createBlueprintJob'>('/api/blueprints/morning-brief/jobs', {
          ...{ name: `clicked-${name}`, timezone: 'Europe/Berlin', values: { time: '07:00', deliver: 'origin' } },
        });
        await page.goto(`${console.url}/#/jobs/${id}`);
        await shows(/^every day at 07:00/);
        const save = page.getByRole('button', { name: WORDS.saveJob });
        await save.scrollIntoViewIfNeeded();
        await page.getByRole('textbox', { name: 'Description' }).pressSequentially('Clicked');
        await save.scrollIntoViewIfNeeded();
        const { x, y, width, height } = (await save.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
        await page.mouse.move(x + width / 2, y + height / 2);
        await page.mouse.down();
        await page.waitForTimeout(200);
        await page.mouse.up();
        await shows(WORDS.jobChanged);
        await console.change<'removeJob'>(`/api/jobs/${id}/remove`, {});
      });

      it('shows a range of time with an end, which the address keeps', async () => {
        await page.goto(`${console.url}/#/deliveries?range=custom&since=2026-01-01T00:00`);
        await page.locator('tbody tr').first().waitFor();
        if (name === 'small') await press('button', WORDS.filters);
        await page.getByLabel(WORDS.rangeEnd, { exact: true }).fill('2026-01-02T00:00');
        await page.keyboard.press('Enter');
        await shows(WORDS.noDelivery);
        assert.match(page.url(), /until=2026-01-02T00%3A00/);
        await look('range');
        await page.reload();
        await shows(WORDS.noDelivery);
        // A start and an end are one filter.
        await page.getByRole('button', { name: WORDS.removeRange }).press('Enter');
        await page.locator('tbody tr').first().waitFor();
        assert.doesNotMatch(page.url(), /range=|since=|until=/);
      });

      it('shows which session is busy, and its waiting runs', async () => {
        await begin();
        await press('link', 'Sessions');
        await shows(WORDS.busy);
        await shows(WORDS.waiting);
        await press('row', WORDS.busy);
        await rowOf(/held.*pending.*held|pending/s).waitFor();
        await until(async () => (await page.locator('tbody tr').count()) === 2);
        await done('sessions');
      });

      it('approves an output', async () => {
        accepts = true;
        const pending = async () => (await console.get<'listApprovals'>('/api/approvals')).items.length;
        await send('post', { text: 'To all' });
        await until(async () => (await pending()) === 1);
        await begin();
        await press('link', 'Approvals');
        await press('row', /telegram/);
        // The whole message, where it goes, and where it comes from.
        await shows('Looks good.');
        await page.getByText('-7', { exact: true }).waitFor();
        await page.getByRole('heading', { name: WORDS.prompt }).waitFor();
        await shows('To all');
        await look('approval');
        await press('button', WORDS.approve);
        await shows(WORDS.approved);
        await until(async () => (await pending()) === 0);
        await done('approved');
      });

      it('follows an event from its request to its message', async () => {
        await begin();
        await press('link', 'Requests');
        await press('row', /pull_request.*accepted.*review.*done/s);
        await page.getByRole('heading', { name: WORDS.prompt }).waitFor();
        // The page of the request has the run and the answer, and the page of the delivery has the payload.
        await shows('Looks good.');
        await everyStep();
        await shows(WORDS.allPassed);
        await look('request');
        await press('link', WORDS.deliveryId);
        await page.getByText('Add a cache').first().waitFor();
        await page.getByRole('heading', { name: 'Headers' }).waitFor();
        await shows('Looks good.');
        await done('delivery');
      });

      it('copies a captured request as curl and as a test', async () => {
        await begin();
        await press('link', 'Requests');
        await press('row', /pull_request.*accepted.*review/s);
        await press('button', WORDS.copyCurl);
        await shows(WORDS.copied);
        assert.match(String(await page.evaluate('navigator.clipboard.readText()')), /^curl /);
        await done('copied');
        await press('button', WORDS.copyTest);
        await until(async () => String(await page.evaluate('navigator.clipboard.readText()')).startsWith('tests:'));
      });
    });
  }
});
