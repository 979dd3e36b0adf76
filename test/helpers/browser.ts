/** A real browser for the tests of pages; the tests are skipped, with a message, if none is installed. */
import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Quiet and offline: a test browser needs no network. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A long timeout, because a busy machine is not a failure: it only passes if nothing happens any more. */
const PATIENCE_MS = 60_000;

const executablePath = PATHS.find((path) => existsSync(path));

/** For the `skip` of node:test: false, or why. */
export const NO_BROWSER: string | false =
  executablePath === undefined ? 'no Chromium is installed (apt-get install chromium)' : false;

/** @param flags additional flags */
export async function launchBrowser(flags: readonly string[] = []): Promise<Browser> {
  if (executablePath === undefined) throw new Error('no Chromium is installed');
  // Imported only if there is a browser, because the package takes a second to load.
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath, args: [...FLAGS, ...flags], timeout: PATIENCE_MS });
  const newContext = browser.newContext.bind(browser);
  return Object.assign(browser, {
    async newContext(...options: Parameters<typeof newContext>) {
      const context = await newContext(...options);
      context.setDefaultTimeout(PATIENCE_MS);
      return context;
    },
  });
}
