/** The page of one approval: the message of the link, with invisible characters made visible. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { launchBrowser, NO_BROWSER } from '../../helpers/browser.ts';
import { startConsole } from '../../helpers/console.ts';
import { until } from '../../helpers/gateway.ts';
import { WORDS } from './words.ts';

const TOKEN = 'token-of-the-operators';
const AUTH = { authorization: `Bearer ${TOKEN}` };

const TEXT = 'send \u202e0001 yap ton od\u202c to \u200bbob, \u2764\ufe0f\r\nsecond line';
const SHOWN = 'send \\u202e0001 yap ton od\\u202c to \\u200bbob, \u2764\ufe0f';

it('the link of a notice opens its approval, shows the message as sent, and shows the answer', {
  skip: NO_BROWSER,
}, async (t) => {
  const sent: string[] = [];
  const service = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    sent.push(Buffer.concat(parts).toString());
    response.end('{}');
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  t.after(() => service.close());
  const { port } = service.address() as AddressInfo;
  const console = await startConsole(
    t,
    `agent: { command: ["true"], confined: a test }
platforms:
  http: { enabled: true, url: "http://127.0.0.1:${port}/", allow_http: true, allow_private: true, body: "{text}" }
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes: { post: { agent: none, prompt: "{text}", deliver: http, approve: true } }
gateway: { console: { port: 0, token: ${TOKEN} }, approvals: { deliver: log } }
`,
    AUTH,
  );
  for (const text of ['another', TEXT, 'a third'])
    await console.gateway.cli('webhook', 'test', 'post', '--payload', JSON.stringify({ text }), '--yes');
  const waiting = async () => (await console.get<'listApprovals'>('/api/approvals')).items;
  await until(async () => (await waiting()).length === 3);
  const { id } = (await waiting()).find(({ text }) => text === TEXT) ?? assert.fail();

  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage({ extraHTTPHeaders: AUTH });
  await page.goto(`${console.url}/#/approvals/${id}`);
  const main = page.getByRole('main');
  // The message, the prompt that it comes from, and the payload.
  await until(async () => (await main.getByText(SHOWN).count()) === 3);
  assert.equal(await main.getByRole('button', { name: WORDS.approve }).count(), 1);
  const text = await main.innerText();
  assert.match(text, /\b3\b/);
  assert.ok(!/[\u202a-\u202e\u200b]/.test(text));

  const delivery = id.slice(0, id.indexOf('-'));
  await page.goto(`${console.url}/#/deliveries/${delivery}`);
  await main.getByText(SHOWN).first().waitFor();

  await page.goto(`${console.url}/#/approvals/${id}`);
  await main.getByRole('button', { name: WORDS.approve }).click();
  await main.getByText(WORDS.isApproved).waitFor();
  // When it is sent.
  await main.getByText(WORDS.takesEffect).waitFor();
  assert.equal(await main.getByRole('button', { name: WORDS.decide }).count(), 0);
  await until(async () => sent.length === 1);
  assert.deepEqual(sent, [TEXT]);

  const [next] = await waiting();
  await console.change(`/api/approvals/${next?.id}`, { approve: false, reason: 'not \u202ethis' });
  await page.goto(`${console.url}/#/approvals/${next?.id}`);
  await main.getByText(WORDS.isRejected).waitFor();
  await main.getByText('not \ufffdthis').waitFor();

  const [last] = await waiting();
  await page.goto(`${console.url}/#/approvals`);
  await main.getByText(last?.text ?? '').waitFor();
  await page.goto(`${console.url}/#/approvals/${last?.id}`);
  await main.getByRole('button', { name: WORDS.reject }).press('Enter');
  await main.getByLabel(WORDS.reason).focus();
  await console.change(`/api/approvals/${last?.id}`, { approve: false });
  await main.getByRole('dialog').waitFor({ state: 'detached' });
  // Another person has answered: the dialog closes, and the focus is not lost.
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1');

  await page.goto(`${console.url}/#/approvals/nosuch-0-1`);
  await main.getByText('"nosuch-0-1"').waitFor();
});
