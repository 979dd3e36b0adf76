/** An approval on the page: it can be undone by keyboard, and takes effect after five seconds without the page. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { launchBrowser, NO_BROWSER } from '../../helpers/browser.ts';
import { startConsole } from '../../helpers/console.ts';
import { until } from '../../helpers/gateway.ts';
import { WORDS } from './words.ts';

/** On a slow machine the time to undo can pass before a key is pressed: then the next message is approved, so often. */
const TRIES = 10;

const TOKEN = 'the-token-of-ann';
const AUTH = { authorization: `Bearer ${TOKEN}` };
const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes: { post: { agent: none, prompt: "{text}", deliver: log, approve: true } }
gateway:
  console: { port: 0, users: { ann: { token: ${TOKEN}, role: operator } } }
  approvals: { deliver: log }
`;

it('an approval is undone by keyboard, and is sent after the page was closed', { skip: NO_BROWSER }, async (t) => {
  const { gateway, url, get } = await startConsole(t, CONFIG, AUTH);
  const waiting = async () => (await get<'listApprovals'>('/api/approvals')).items;
  const stateOf = async (id: string) => (await get<'getDelivery'>(`/api/deliveries/${id}`)).state;
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage({ extraHTTPHeaders: AUTH });
  const approve = async (): Promise<string> => {
    await until(async () => (await waiting()).length === 1);
    const [{ id = '' } = {}] = await waiting();
    await page.goto(`${url}/#/approvals/${id}`);
    await page.getByText('Signed in as ann').waitFor();
    await page.getByRole('main').getByRole('button', { name: WORDS.approve }).press('Enter');
    await page.getByText(WORDS.approved).waitFor();
    return id.split('-')[0] ?? '';
  };
  let isUndone = false;
  for (let tries = 0; !isUndone; tries++) {
    assert.ok(tries < TRIES, 'the focused button does not undo the approval');
    await gateway.cli('webhook', 'test', 'post', '--payload', '{"text":"hello"}', '--yes');
    const id = await approve();
    // The pressed button is removed; the focus is where the approval can be undone.
    await page.keyboard.press('Enter');
    await until(async () => (await waiting()).length === 1 || (await stateOf(id)) === 'done');
    isUndone = (await waiting()).length === 1;
  }
  await page.getByText(WORDS.undone).waitFor();
  const id = await approve();
  await page.close();
  await until(async () => (await stateOf(id)) === 'done');
  const { timeline } = await get<'getDelivery'>(`/api/deliveries/${id}`);
  const steps = timeline.filter(({ what }) => /^appro|^delivered/.test(what));
  assert.deepEqual(
    steps.map(({ what }) => what),
    ['approved by console:ann', 'approval undone by console:ann', 'approved by console:ann', 'delivered'],
  );
  assert.ok((steps[3]?.at ?? 0) - (steps[2]?.at ?? 0) >= 5000);
});
