import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Cron } from 'croner';
import type { Browser, Locator, Page, ViewportSize } from 'playwright-core';
import { readGalleryAssets } from '../../../cli/files/gallery-assets.ts';
import { parseCommand, printCommand } from '../../../compiler/blueprints/command.ts';
import { defaultValues } from '../../../compiler/blueprints/expand.ts';
import { fillBlueprint } from '../../../compiler/blueprints/fill.ts';
import { printGallery } from '../../../compiler/blueprints/gallery/print-gallery.ts';
import { printLink } from '../../../compiler/blueprints/link.ts';
import { publish } from '../../../compiler/blueprints/publish.ts';
import { CRON_OPTIONS } from '../../../compiler/schedule/parse-schedule.ts';
import { launchBrowser, NO_BROWSER } from '../../helpers/browser.ts';
import { selfScript } from '../../helpers/cli.ts';
import { ROOT } from '../../helpers/root.ts';
import { shippedBlueprint, shippedBlueprints } from '../../helpers/shipped-blueprints.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** Defines `probe` in the page. */
const PROBE = fileURLToPath(new URL('../../fixtures/page-probe.js', import.meta.url));
/** Screenshots for people to look at; not under version control. */
const ARTEFACTS = join(ROOT, 'build/artefacts');
/** A Friday, the day before the clocks of New York go back. */
const NOW = Date.parse('2026-10-30T16:00:00Z');
const ZONE = 'America/New_York';
const BLANK = 'about:blank';
const DESK = { width: 1280, height: 900 };
const PHONE = { width: 360, height: 740 };

/** What a reader's device and settings are. */
interface Reader {
  readonly viewport?: ViewportSize;
  readonly colorScheme?: 'light' | 'dark';
  readonly reducedMotion?: 'reduce';
}

describe('the gallery in a browser', { skip: NO_BROWSER }, () => {
  let browser: Browser;
  let page: Page;
  let address: string;
  const faults: string[] = [];
  const cleanups: (() => void)[] = [];

  before(async () => {
    browser = await launchBrowser();
    const file = join(tempDir({ after: (clean) => cleanups.push(clean as () => void) }), 'blueprints.html');
    writeFileSync(file, printGallery(publish(shippedBlueprints(), 'hookwright'), 'hookwright', readGalleryAssets()));
    address = pathToFileURL(file).href;
    mkdirSync(ARTEFACTS, { recursive: true });
    page = await browser.newPage({
      timezoneId: ZONE,
      locale: 'en-GB',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    page.on('console', (message) => faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) faults.push(`asked for ${request.url()}`);
    });
    await page.addInitScript({ path: PROBE });
    await page.clock.setFixedTime(NOW);
  });
  after(async () => {
    await browser?.close();
    for (const clean of cleanups) clean();
    assert.deepEqual(faults, []);
  });

  /** Opens the gallery as somebody would who never saw it; one page serves all tests, for a new one takes 2 s of a core. */
  async function openPage(hash = '', { viewport = DESK, ...media }: Reader = {}): Promise<void> {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'no-preference', ...media });
    if (page.url() !== BLANK) await page.evaluate('localStorage.clear()');
    // Another hash alone would not load the page again.
    await page.goto(BLANK);
    await page.goto(address + hash);
  }

  const dialog = (): Locator => page.locator('dialog[open]');
  const output = (name: string): Promise<string | null> => dialog().locator(`[data-out="${name}"]`).textContent();

  test('what it makes is what the compiler makes, whatever is typed', async () => {
    await openPage('#news-digest');
    const { key, fields } = shippedBlueprint('news-digest');
    const hostile = [
      'x',
      '"\\',
      'a\\"b=c d',
      '100% + 1 & 2 # ? ä 😀',
      'two\nlines',
      '“x” {time} $& </script>',
      '  spaces  ',
    ];
    await dialog().getByLabel('At what time?').fill('07:05');
    await dialog().getByText('weekends', { exact: true }).click();
    await dialog().getByText('8', { exact: true }).click();
    for (const topic of hostile) {
      await dialog().getByLabel('What should it be about?').fill(topic);
      const trigger = { key, values: { topic, time: '07:05', recurrence: 'weekends', count: '8', deliver: 'origin' } };
      assert.equal(await output('command'), printCommand(trigger, fields));
      assert.equal(await output('link'), printLink(trigger, 'hookwright'));
      assert.equal(await output('shell'), `hookwright blueprint create '${printLink(trigger, 'hookwright')}'`);
      assert.equal(await dialog().locator('[data-launch]').getAttribute('href'), printLink(trigger, 'hookwright'));
    }
  });

  test('every blueprint: its defaults make its published command and link, its runs are right, its controls have names', async () => {
    await openPage();
    for (const plan of shippedBlueprints()) {
      await page.locator(`[data-open="${plan.key}"]`).click();
      const values = defaultValues(plan.fields);
      const filled = fillBlueprint(plan, values);
      assert.ok(filled.ok);
      assert.equal(await output('command'), printCommand({ key: plan.key, values }, plan.fields));
      assert.equal(await output('link'), printLink({ key: plan.key, values }, 'hookwright'));
      const times = await dialog().locator('.runs time').all();
      const shown = await Promise.all(times.map((time) => time.getAttribute('datetime')));
      const cron = new Cron(filled.filled.schedule, { ...CRON_OPTIONS, timezone: ZONE, paused: true });
      assert.deepEqual(
        shown,
        cron.nextRuns(5, new Date(NOW)).map((date) => date.toISOString()),
        plan.key,
      );
      assert.deepEqual(await page.evaluate('probe.nameless()'), [], plan.key);
      assert.deepEqual(await page.evaluate('probe.dangling()'), [], plan.key);
      await page.keyboard.press('Escape');
    }
  });

  test('another platform can be named, and a copy is what is shown', async () => {
    await openPage('#morning-brief');
    await dialog().getByLabel('Where should it be delivered?').selectOption('another platform…');
    assert.equal(await dialog().locator('.fault').isVisible(), true);
    assert.equal(await page.getByRole('button', { name: 'Copy: Chat command' }).isDisabled(), true);
    await page.keyboard.type('matrix');
    assert.equal(await dialog().locator('.fault').isVisible(), false);
    await page.getByRole('button', { name: 'Copy: Chat command' }).click();
    const copied = await page.evaluate('navigator.clipboard.readText()');
    assert.equal(copied, '/blueprint morning-brief time=08:00 deliver=matrix');
    assert.ok(parseCommand(String(copied)).ok);
    await page.getByRole('button', { name: 'Back to the defaults' }).click();
    await dialog().locator('[data-out="command"]', { hasText: 'deliver=origin' }).waitFor();
  });

  test('the line for the terminal, copied, makes the job that the form describes', async () => {
    await openPage('#custom-reminder');
    const what = `it's "tea" time; $HOME \\ 100% & more\n— \u{1fad6}`;
    await dialog().getByLabel('What should I remind you of?').fill(what);
    await dialog().getByLabel('At what time?').fill('16:00');
    await dialog().getByText('weekends', { exact: true }).click();
    await dialog().getByLabel('Where should it be delivered?').selectOption('local');
    await page.getByRole('button', { name: 'Copy: Terminal' }).click();
    const line = String(await page.evaluate('navigator.clipboard.readText()'));
    const home = tempDir({ after: (clean) => cleanups.push(clean as () => void) });
    writeFileSync(join(home, 'hookwright'), selfScript(), { mode: 0o755 });
    const env = { PATH: `${home}:${process.env.PATH}`, HOME: home, HOOKWRIGHT_HOME: home, TZ: 'UTC' };
    const made = spawnSync('sh', ['-c', `${line} --json`], { cwd: home, env, encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    const job = JSON.parse(made.stdout);
    assert.deepEqual(
      [job.name, job.schedule, job.deliver, job.blueprint.values.what],
      ['custom-reminder', '0 16 * * 0,6', ['local'], what],
    );
  });

  test('an empty text is named, marked and never copied', async () => {
    await openPage('#custom-reminder');
    const what = dialog().getByLabel('What should I remind you of?');
    await what.fill('   ');
    assert.equal(await page.getByRole('alert').textContent(), 'Still missing: What should I remind you of?');
    assert.equal(await what.getAttribute('aria-invalid'), 'true');
    assert.equal(await page.getByRole('button', { name: 'Copy: Terminal' }).isDisabled(), true);
    await what.fill('water the plants');
    assert.equal(await what.getAttribute('aria-invalid'), null);
    assert.match((await output('command')) ?? '', /what="water the plants"/);
  });

  test('it works by keyboard alone, and focus comes back to where it was', async () => {
    await openPage();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.type('water movement');
    assert.equal(await page.locator('.card:visible').count(), 1);
    assert.equal(await page.locator('#count').textContent(), '1 blueprint');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await dialog().getAttribute('id'), 'hydration-move');
    assert.equal(await page.evaluate(`probe.focused('id')`), 'hydration-move-title');
    await page.getByRole('radio', { name: '1', exact: true }).focus();
    await page.keyboard.press('ArrowRight');
    assert.match((await output('command')) ?? '', /interval_hours=2/);
    await page.keyboard.press('Escape');
    assert.equal(await dialog().count(), 0);
    assert.equal(await page.evaluate(`probe.focused('data-open')`), 'hydration-move');
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`every text is easy to read in the ${colorScheme} theme`, async () => {
      await openPage('', { colorScheme, reducedMotion: 'reduce' });
      await page.screenshot({ path: join(ARTEFACTS, `gallery-${colorScheme}.png`), fullPage: true });
      await page.locator('[data-open="news-digest"]').click();
      await page.screenshot({ path: join(ARTEFACTS, `gallery-dialog-${colorScheme}.png`) });
      assert.deepEqual(await page.evaluate('probe.pale()'), []);
    });
  }

  test('the theme can be chosen, and the choice stays', async () => {
    await openPage();
    await page.getByRole('button', { name: 'Theme: auto' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).click();
    assert.equal(await page.evaluate('probe.colorScheme()'), 'dark');
    await page.reload();
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor();
  });

  test('nothing is wider than a phone', async () => {
    await openPage('#meal-plan', { viewport: PHONE });
    await page.screenshot({ path: join(ARTEFACTS, 'gallery-phone.png') });
    for (const width of (await page.evaluate('probe.widths()')) as number[]) assert.ok(width <= 360, `${width} px`);
  });
});
