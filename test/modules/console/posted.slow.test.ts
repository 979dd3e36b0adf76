/** What an agent posted, in the pages: found by its text, with a link to the post, and no link to anything else. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { launchBrowser, NO_BROWSER } from '../../helpers/browser.ts';
import { startConsole } from '../../helpers/console.ts';
import { until } from '../../helpers/gateway.ts';

const POST = 'https://github.com/shop/web/pull/7#issuecomment-1';
const HOSTILE = ['javascript:alert(1)', 'data:text/html,<b>x', '//evil.example/x', 'file:///etc/passwd'];
const OUTPUT = JSON.stringify({ output: 'comment', text: 'The cache is stale.' });
const AGENT = `require('fs').writeFileSync(process.env.HOOKWRIGHT_OUTPUTS_FILE, ${JSON.stringify(OUTPUT)})`;

const configOf = (
  port: number,
): string => `agent: { command: ["node", "-e", ${JSON.stringify(AGENT)}], confined: a test }
platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes:
      bot:
        prompt: "Review PR {number}"
        deliver: log
        outputs: { comment: { deliver: github_comment, repo: shop/web, pr_number: "{number}" } }
  github: { enabled: true, token: github_pat_of_a_test_11A0, api_base: "http://127.0.0.1:${port}" }
gateway: { console: { port: 0 } }
`;

it('finds what a bot posted on a pull request in three clicks, and links only web addresses', {
  skip: NO_BROWSER,
  timeout: 900_000,
}, async (t) => {
  const addresses = [...HOSTILE, POST];
  const double = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      if (request.method === 'GET') return response.end(request.url?.endsWith('/user') ? '{"login":"a-bot"}' : '[]');
      return response.writeHead(201).end(JSON.stringify({ id: 1, html_url: addresses.shift() }));
    });
  });
  await new Promise<void>((resolve) => double.listen(0, '127.0.0.1', resolve));
  t.after(() => double.close());
  const console = await startConsole(t, configOf((double.address() as AddressInfo).port));
  const numbers = [1, 2, 3, 4, 7];
  for (const [at, number] of numbers.entries()) {
    await console.gateway.cli('webhook', 'test', 'bot', '--payload', JSON.stringify({ number }), '--yes');
    await until(
      async () => (await console.get<'listDeliveries'>('/api/deliveries?state=done')).items.length === at + 1,
    );
  }
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`${console.url}/#/overview`);
  await page.getByRole('link', { name: 'Requests' }).click();
  await page.getByLabel('Search', { exact: true }).fill('"number":7');
  await page.keyboard.press('Enter');
  await until(async () => (await page.locator('tbody tr').count()) === 1);
  await page.locator('tbody tr').click();
  await page.getByText('The cache is stale.').waitFor();
  const links = page.getByRole('main').locator(`a[href="${POST}"]`);
  assert.ok((await links.count()) >= 1);
  assert.equal(await links.first().getAttribute('rel'), 'noopener noreferrer');

  const { items } = await console.get<'listDeliveries'>('/api/deliveries');
  for (const { id } of items.slice(1)) {
    await page.goto(`${console.url}/#/deliveries/${id}`);
    await page.getByText('The cache is stale.').waitFor();
    for (const link of await page.getByRole('link').all())
      assert.match((await link.getAttribute('href')) ?? '', /^#\//);
  }
});
