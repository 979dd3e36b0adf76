/** Stored XSS: 200 scripts in payloads, headers, ids, events, names and answers. None runs in the pages. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { launchBrowser, NO_BROWSER } from '../../helpers/browser.ts';
import { startConsole } from '../../helpers/console.ts';
import { until } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { WORDS } from './words.ts';

/** Scripts that run if a page renders them as HTML, an address or a style; `RUN` is the call. */
const CARRIERS = [
  '<script>RUN</script>',
  '"><script>RUN</script>',
  '</script><script>RUN</script>',
  '<img src=x onerror=RUN>',
  '"><img src=x onerror="RUN">',
  "'><img src=x onerror='RUN'>",
  '<svg onload=RUN>',
  '<svg><animate onbegin=RUN attributeName=x dur=1s>',
  '<body onload=RUN>',
  '<iframe srcdoc="<script>parent.RUN</script>"></iframe>',
  '<iframe src="javascript:parent.RUN"></iframe>',
  '<a href="javascript:RUN">x</a>',
  'javascript:RUN',
  'javascript:RUN//https://example.com',
  'JaVaScRiPt:RUN',
  '\tjavascript:RUN',
  'data:text/html,<script>RUN</script>',
  'vbscript:RUN',
  '<details open ontoggle=RUN>',
  '<input autofocus onfocus=RUN>',
  '<select autofocus onfocus=RUN>',
  '<video><source onerror=RUN></video>',
  '<audio src=x onerror=RUN>',
  '<marquee onstart=RUN>',
  '<object data="javascript:RUN"></object>',
  '<embed src="javascript:RUN">',
  '<form action="javascript:RUN"><button>x</button></form>',
  '<math><mtext></mtext><script>RUN</script></math>',
  '<style>@import "javascript:RUN";</style>',
  '<link rel=stylesheet href="javascript:RUN">',
  '<base href="javascript:RUN//">',
  '<meta http-equiv=refresh content="0;url=javascript:RUN">',
  '<template><script>RUN</script></template>',
  '<noscript><p title="</noscript><img src=x onerror=RUN>">',
  '{{constructor.constructor("RUN")()}}',
  '$' + '{RUN}',
  '`$' + '{RUN}`',
  '"-RUN-"',
  "'-RUN-'",
  '\\"-RUN//',
] as const;
const CALLS = ['ran()', 'window.ran()', 'top.ran()', 'self["ran"]()', '(0,ran)()'] as const;
const TEXTS = CARRIERS.flatMap((carrier) => CALLS.map((call) => carrier.replaceAll('RUN', call)));

/** A word that is wider than any screen, and text that reverses what follows it. */
const LONG = 'Donaudampfschifffahrt'.repeat(40);
const BIDI = '\u202eevil\u2066\u200b\u0000 \u05d0\u05d1 \u2067x';

const CONFIG = `agent: { command: ["node", "-e", "process.stdin.pipe(process.stdout)"], confined: a test }
platforms:
  webhook:
    enabled: true
    routes:
      open:
        secret: INSECURE_NO_AUTH
        description: ${JSON.stringify(TEXTS[4])}
        filters: { field: skip, not_equals: true }
        prompt: "{text} {__raw__}"
gateway: { console: { port: 0 } }
jobs:
  brief: { schedule: "0 8 * * *", prompt: ${JSON.stringify(TEXTS[0])}, description: ${JSON.stringify(TEXTS[20])} }
`;

it('runs no script in text of strangers, which neither overflows nor reorders the page', {
  skip: NO_BROWSER,
  timeout: 3_600_000,
}, async (t) => {
  assert.equal(new Set(TEXTS).size, 200);
  const console = await startConsole(t, CONFIG);
  const browser = await launchBrowser();
  t.after(() => browser.close());
  const url = `${console.gateway.url}/webhooks/open`;
  const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, ' ').trim();
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    sendAgain(url, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });
  const all = Object.fromEntries(
    TEXTS.map((text, at) => [at % 2 === 0 ? text : `key${at}`, { file_name: text, name: text }]),
  );
  assert.equal((await post({ text: TEXTS.join('\n'), ...all })).status, 202);
  assert.equal((await post({ text: TEXTS[0], skip: true, all })).status, 200);
  for (const [at, text] of TEXTS.entries()) {
    if (at % 10 !== 0) continue;
    const named = { 'x-request-id': printable(text), 'x-github-event': printable(text), 'user-agent': printable(text) };
    assert.ok((await post({ text, [text]: text }, named)).status < 300, text);
  }
  const long = 'w'.repeat(180);
  const odd = { text: `${LONG}${BIDI}`, [LONG]: BIDI, [BIDI]: LONG };
  assert.equal((await post(odd, { 'x-request-id': long, 'x-github-event': long })).status, 202);
  await until(
    async () => (await console.get<'listDeliveries'>('/api/deliveries?state=done&limit=200')).items.length >= 20,
  );

  const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  const ran: string[] = [];
  await page.exposeFunction('ran', () => void ran.push(page.url()));
  page.on('dialog', (dialog) => {
    ran.push(dialog.message());
    void dialog.dismiss();
  });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const { items: requests } = await console.get<'listRequests'>('/api/requests?limit=200');
  const { items: deliveries } = await console.get<'listDeliveries'>('/api/deliveries?limit=200');
  const places = [
    ...['overview', 'requests', 'deliveries', 'routes', 'jobs', 'usage', 'blueprints', 'nodes'],
    ...[...requests.slice(0, 6), ...requests.slice(-2)].map(({ id }) => `requests/${id}`),
    ...[...deliveries.slice(0, 6), ...deliveries.slice(-2)].map(({ id }) => `deliveries/${id}`),
    // Crafted links.
    ...TEXTS.slice(0, 40).map((text) => `requests?route=${encodeURIComponent(text)}&grep=${encodeURIComponent(text)}`),
    ...TEXTS.slice(60, 80).map((text) => `${encodeURIComponent(text)}/${encodeURIComponent(text)}`),
    ...TEXTS.slice(80, 90).map((text) => text),
  ];
  for (const place of places) {
    await page.goto(`${console.url}/#/${place}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await until(async () => (await page.getByText(WORDS.loading).count()) === 0);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.ok((overflow as number) <= 0, `${place} is ${overflow} px too wide`);
    assert.ok(!/[\u202a-\u202e\u2066-\u2069\u200b]/.test(await page.locator('body').innerText()), place);
    for (const link of await page.getByRole('link').all())
      assert.match((await link.getAttribute('href')) ?? '', /^#\//);
  }
  assert.deepEqual(ran, []);
  assert.deepEqual(
    asked.filter(
      (each) =>
        !each.startsWith(`${console.url}/`) && !each.startsWith('data:image/svg+xml,%3Csvg') && each !== 'data:,',
    ),
    [],
  );
  assert.equal(
    await page.locator('main script, main iframe, main img, main style, main object, main embed').count(),
    0,
  );
});
