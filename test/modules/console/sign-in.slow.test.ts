/** Signing in to the pages as an operator or as a viewer, and signing out. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { cookieName } from '../../../modules/console/runtime/access.ts';
import { launchBrowser, NO_BROWSER } from '../../helpers/browser.ts';
import { startConsole } from '../../helpers/console.ts';
import { until } from '../../helpers/gateway.ts';
import { WORDS } from './words.ts';

const TOKEN = 'a-token-for-operators-of-this-test';
const VIEWER = 'a-token-for-viewers-of-this-test';
const CONFIG = `platforms:
  webhook: { enabled: true, secret: a-literal-secret-for-tests, routes: { hello: { prompt: "{name}" } } }
gateway: { console: { port: 0, token: ${TOKEN}, viewer_token: ${VIEWER} } }
`;

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel(WORDS.token).waitFor();
  await page.keyboard.type(token);
  await page.keyboard.press('Enter');
}

describe('signing in', { skip: NO_BROWSER, timeout: 900_000 }, () => {
  it('requests a missing token, rejects a wrong one, and then shows the requested page', async (t) => {
    const { url } = await startConsole(t, CONFIG, { authorization: `Bearer ${TOKEN}` });
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`${url}/#/routes`);
    await signIn(page, 'wrong');
    await page.getByRole('alert').waitFor();
    await page.getByLabel(WORDS.token).fill('');
    await signIn(page, TOKEN);
    await page.getByRole('button', { name: WORDS.pause('hello') }).waitFor();
    assert.deepEqual(await page.evaluate('[document.cookie, Object.keys(localStorage).length]'), ['', 0]);
    await page.reload();
    await page.getByRole('button', { name: WORDS.pause('hello') }).waitFor();
    await page.getByRole('button', { name: WORDS.signOut }).click();
    await page.getByLabel(WORDS.token).waitFor();
    await page.reload();
    await page.getByLabel(WORDS.token).waitFor();
  });

  it('works below a path of another site, whose tab has the name of the gateway', async (t) => {
    const below = CONFIG.replace(
      'gateway: { console: {',
      'gateway: { name: <b>shop</b>, console: { base_path: /ops/hooks,',
    );
    const { url } = await startConsole(t, below, { authorization: `Bearer ${TOKEN}` });
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`${url}#/routes`);
    await signIn(page, TOKEN);
    await page.getByRole('button', { name: WORDS.pause('hello') }).click();
    await page.getByRole('button', { name: WORDS.hour }).click();
    await page.getByText(WORDS.pausedUntil('hello')).waitFor();
    assert.equal(new URL(page.url()).pathname, '/ops/hooks/');
    await page.reload();
    await page.getByRole('button', { name: WORDS.resume('hello') }).waitFor();
    // A paused route is a problem.
    await until(async () => (await page.title()) === '(1) Routes · <b>shop</b>');
    assert.match((await page.locator('link[rel=icon]').getAttribute('href')) ?? '', /^data:image\/svg\+xml,/);
    await page.getByRole('button', { name: WORDS.signOut }).click();
    await page.getByLabel(WORDS.token).waitFor();
  });

  it('reports a failed sign-out, even if only a copy of the cookie stays valid', async (t) => {
    const { url } = await startConsole(t, CONFIG, { authorization: `Bearer ${TOKEN}` });
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`${url}/#/routes`);
    await signIn(page, TOKEN);
    const signOut = page.getByRole('button', { name: WORDS.signOut });
    await page.route('**/logout', (route) => route.abort());
    await signOut.click();
    await page.getByText(WORDS.noAnswer).waitFor();
    await page.route('**/logout', (route) => route.fulfill({ status: 503, body: 'too many requests of one client' }));
    await signOut.click();
    await page.getByText(WORDS.answers503).waitFor();
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    // The response of a gateway whose store is unavailable: the browser deletes its cookie.
    const error = 'this browser is signed out, but a copy of its cookie is not';
    const headers = { 'set-cookie': `${cookieName({ port: 0 })}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict` };
    await page.route('**/logout', (route) => route.fulfill({ status: 503, headers, json: { error } }));
    await signOut.click();
    await page.getByLabel(WORDS.token).waitFor();
    await page.getByText(WORDS.signOutFailed(error)).waitFor();
  });

  it('shows a viewer everything, but no buttons that change something', async (t) => {
    const { url } = await startConsole(t, CONFIG, { authorization: `Bearer ${TOKEN}` });
    const browser = await launchBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`${url}/#/routes`);
    await signIn(page, VIEWER);
    await page.getByRole('link', { name: 'hello', exact: true }).waitFor();
    await page.getByText(WORDS.viewer).waitFor();
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await page.getByRole('link', { name: 'Routes' }).click();
    await page.getByRole('link', { name: 'hello', exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: WORDS.changes }).count(), 0);
  });
});
