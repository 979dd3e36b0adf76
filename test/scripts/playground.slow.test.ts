/** Tests the playground in a real browser: it compiles and explains like the command line, without any network request. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import type { CompileResult } from '../../compiler/compile.ts';
import { buildPlayground } from '../../scripts/playground/build-page.ts';
import { guideExamples, linkTo } from '../../scripts/playground/guide-examples.ts';
import { launchBrowser, NO_BROWSER } from '../helpers/browser.ts';
import { runInProcess } from '../helpers/cli.ts';
import { absolutePath } from '../helpers/compile.ts';
import { expectedOf, goldenNames, goldenText, readGolden } from '../helpers/golden.ts';
import { ROOT } from '../helpers/root.ts';
import { tempDir } from '../helpers/temp-dir.ts';

/** Folder of screenshots for people; not under version control. */
const ARTEFACTS = join(ROOT, 'build/artefacts');

const KINDS = {
  agent: { prompt: 'Look at {title}' },
  none: { agent: 'none', prompt: '{title}' },
  direct: { deliver_only: true, prompt: '{title}' },
  group: { prompt: '{title}', coalesce: { window_seconds: 5, key: '{number}' } },
};

/** Targets with an address, with an unresolved address, and without. */
const DELIVERIES = {
  log: { deliver: 'log' },
  telegram: { deliver: 'telegram', deliver_extra: { chat_id: '{chat}' } },
  telegram_nowhere: { deliver: 'telegram', deliver_extra: { chat_id: '{c}' } },
  telegram_missing: { deliver: 'telegram' },
  slack: { deliver: 'slack', deliver_extra: { chat_id: 'C024BE91L' } },
  both_missing: { deliver: ['telegram', 'slack'] },
  email: { deliver: 'email', deliver_extra: { chat_id: 'ops@example.org' } },
  email_missing: { deliver: 'email' },
  http: { deliver: 'http', deliver_extra: { q: '{number}' } },
  http_nowhere: { deliver: 'http', deliver_extra: { q: '..' } },
};

const OTHERS = {
  budget: { prompt: '{title}', deliver: 'log', budget: { runs: 2, per: 'hour' } },
  budget_group: { ...KINDS.group, deliver: 'log', budget: { tokens: 1000, per: 'day' } },
  session: { prompt: '{title}', deliver: 'log', session_key: '{number}' },
  session_open: { prompt: '{title}', deliver: 'log', session_key: '{nothing}' },
};

const SECRET = 'b4f0c9d27e1a4d3fb1c5';
const COMMON = { agent: { command: ['cat'], confined: 'it only repeats its input' } };
const WEBHOOK = { enabled: true, secret: SECRET };
const TARGETS = {
  telegram: { enabled: true, token: '123456789:AAH2c9f1e7b3d5a8c4f6e2b1d9a7c5e3f1b2' },
  slack: { enabled: true, token: 'xoxb-2938-9a8f-c0ffee' },
  email: { enabled: true, smtp_host: 'mail.example.org', from: 'bot@example.org' },
  http: {
    enabled: true,
    url: 'https://hooks.example.org/results/{q}',
    secret: 'whsec_q83nLx0V7dZk2mPfR9sTyW4hJc6bGeUa1iOoQtKvXzE=',
  },
};

describe('the playground', { skip: NO_BROWSER, timeout: 3_600_000 }, () => {
  const folder = tempDir({ after: (clean) => after(clean as () => void) });
  let html: string;
  let browser: Browser;
  let page: Page;
  const asked: string[] = [];
  const faults: string[] = [];
  const open = async (hash = ''): Promise<void> => {
    await page.goto('about:blank');
    await page.goto(`${pathToFileURL(join(folder, 'index.html')).href}${hash}`);
    await until('explanation', /./);
  };
  const text = async (id: string): Promise<string> => (await page.textContent(`#${id}`)) ?? '';
  const until = async (id: string, wanted: RegExp): Promise<void> => {
    await page.locator(`#${id}`, { hasText: wanted }).waitFor({ state: 'attached' });
  };

  before(async () => {
    html = await buildPlayground(ROOT);
    writeFileSync(join(folder, 'index.html'), html);
    browser = await launchBrowser();
    page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.on('request', (request) => asked.push(request.url()));
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => faults.push(message.text()));
    await open();
  });

  after(async () => {
    await browser?.close();
    assert.deepEqual(faults, []);
    assert.deepEqual(
      asked.filter((url) => !url.startsWith('file:') && !url.startsWith('about:')),
      [],
    );
  });

  it('has at most 500 KiB, compressed', () => {
    const size = gzipSync(html, { level: 9 }).length;
    assert.ok(size <= 500 * 1024, `${size} bytes`);
  });

  for (const name of goldenNames()) {
    it(`compiles ${name} like the command line`, async () => {
      const files = Object.entries(readGolden(name)).map(([path, content]) => [absolutePath(path), content]);
      const { output, printed } = (await page.evaluate(`(() => {
        const { output, diagnostics } = hookwright.compileIn(${JSON.stringify(Object.fromEntries(files))}, 0o644);
        const printed = hookwright.printPretty(diagnostics, { color: false, width: 100 });
        return { output: output && { table: output.table }, printed };
      })()`)) as Pick<CompileResult, 'output'> & { readonly printed: string };
      assert.equal(goldenText({ output }, printed), readFileSync(expectedOf(name), 'utf8'));
    });
  }

  /** The output of `hookwright explain` and of the page, without generated values. */
  const comparable = (printed: string): string =>
    printed
      .replaceAll(/^`serve` would not start: .*\n/gm, '')
      .replaceAll(/webhook:(\w+)[:/]\S+/g, 'webhook:$1')
      .replaceAll('\n\n', '\n')
      .trim();

  it('explains like the command line', async (t) => {
    const home = tempDir(t);
    const [config, payload] = await Promise.all([page.inputValue('#config'), page.inputValue('#payload')]);
    writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
    writeFileSync(join(home, 'event.json'), payload);
    const file = `@${join(home, 'event.json')}`;
    const explain = ['explain', 'review', '--event', 'pull_request', '--payload', file];
    const { stdout } = await runInProcess(explain, { home, env: { WEBHOOK_SECRET: 'b4f0c9d27e1a4d3fb1c5' } });
    assert.equal(comparable(await text('explanation')), comparable(stdout));
  });

  it('explains each kind of route, target, budget and session like the command line', async (t) => {
    const home = tempDir(t);
    const routes = Object.fromEntries([
      ...Object.entries(DELIVERIES).flatMap(([name, delivery]) =>
        Object.entries(KINDS).map(([kind, keys]) => [`${name}_${kind}`, { ...keys, ...delivery }] as const),
      ),
      ...Object.entries(OTHERS),
    ]);
    // Without a recipient, it is an error.
    delete routes.log_direct;
    const config = JSON.stringify({ ...COMMON, platforms: { ...TARGETS, webhook: { ...WEBHOOK, routes } } });
    writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
    const payload = '{"number":7,"title":"über","chat":"-100123"}';
    const outcomes = new Set<string>();
    for (const route of Object.keys(routes)) {
      const { stdout } = await runInProcess(['explain', route, '--event', 'push', '--payload', payload], { home });
      const shown = (await page.evaluate(`(async () => {
        const { output, diagnostics } = hookwright.compileIn({ '/project/hookwright.yaml': ${JSON.stringify(config)} });
        if (output === null) return hookwright.printPretty(diagnostics, { color: false, width: 100 });
        const asked = { payload: ${JSON.stringify(payload)}, event: 'push' };
        return (await hookwright.explainIn(output, output.table.routes.${route}, asked)).join('\\n');
      })()`)) as string;
      assert.equal(comparable(shown), comparable(stdout), route);
      outcomes.add(/^\w+: (.*)$/m.exec(shown)?.[1] ?? shown);
      if (/nowhere|missing/.test(route)) assert.match(shown, route.endsWith('direct') ? /: 502 / : /^!/m, route);
      if (route.startsWith('budget')) assert.match(shown, /→ budget /, route);
    }
    assert.deepEqual([...outcomes].sort(), ['200 delivered', '202 accepted', '202 coalesced', '502 delivery_failed']);
  });

  it('shows diagnostics while typing, and a click selects the text', async () => {
    await open();
    const config = await page.inputValue('#config');
    await page.fill('#config', config.replace('prompt:', 'promt:'));
    await until('summary', /\b1\b/);
    assert.match(await text('diagnostics'), /hookwright\.yaml:11:9: error unknown-key/);
    assert.doesNotMatch(await text('explanation'), /202/);
    await page.click('#diagnostics button');
    assert.equal(await page.evaluate('getSelection().toString()'), 'promt');
    await page.fill('#config', config);
    await until('summary', /^0 errors/);
    assert.match(await text('explanation'), /202 accepted/);
  });

  it('shows why an event is ignored, and shows payloads as text', async () => {
    await page.fill('#payload', '{"action":"closed","x":"<img src=x onerror=alert(1)>"}');
    await until('explanation', /ignored/);
    assert.match(await text('explanation'), /✗ action in \["opened","reopened"\] .*"closed"/);
    assert.equal(await page.locator('#explanation img').count(), 0);
  });

  it('opens the example of each guide with its explanation, also in a frame', async () => {
    const examples = await guideExamples(ROOT);
    const pages = examples.map(({ page }) => page);
    for (const guide of ['alertmanager', 'github', 'gitlab', 'stripe', 'tutorial'])
      assert.ok(pages.includes(guide), guide);
    for (const example of examples) {
      await open(`#${linkTo(example)}`);
      assert.match(await text('summary'), /^0 errors/, example.page);
      assert.match(await text('explanation'), /: 20[02] (?:accepted|delivered)/, example.page);
      assert.equal(await page.inputValue('#config'), example.config);
    }
    const [first] = examples;
    assert.ok(first !== undefined);
    writeFileSync(join(folder, 'guide.html'), `<iframe src="index.html#${linkTo(first)}"></iframe>`);
    await page.goto(pathToFileURL(join(folder, 'guide.html')).href);
    await page
      .frameLocator('iframe')
      .locator('#explanation', { hasText: /accepted|delivered/ })
      .waitFor({ state: 'attached' });
  });

  it('opens the example in a link, and fits a phone', async () => {
    const prompt =
      'platforms: { webhook: { enabled: true, secret: "env:S", routes: { other: { prompt: "über {a}" } } } }';
    const values = Buffer.from(JSON.stringify({ config: prompt, payload: '{"a":1}', event: '' })).toString('base64url');
    await open(`#${values}`);
    assert.match(await text('explanation'), /other: 202 accepted[\s\S]*über 1/);
    await page.setViewportSize({ width: 390, height: 844 });
    const isWide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    assert.equal(isWide, false);
    mkdirSync(ARTEFACTS, { recursive: true });
    await page.screenshot({ path: join(ARTEFACTS, 'playground-phone.png'), fullPage: true });
  });
});
