/**
 * Takes the screenshots of docs/images: `npx tsx scripts/console/screenshots.ts [<folder>] [<view> …]`. It starts a gateway with a week
 * of sample figures and some events, and opens its pages on a large and a small screen, light and dark.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchBrowser } from '../../test/helpers/browser.ts';
import { startGateway, until } from '../../test/helpers/gateway.ts';
import { openOfflineStore } from '../../test/helpers/rescued-store.ts';
import { tempDir } from '../../test/helpers/temp-dir.ts';
import { buildConsole } from './build-page.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [folder = join(ROOT, 'docs/images'), ...wanted] = process.argv.slice(2);

const TOKEN = 'a-token-for-screenshots';
const AUTH = { authorization: `Bearer ${TOKEN}` };

const OUTPUTS = [
  { output: 'label', labels: ['bug', 'checkout'] },
  { output: 'comment', text: 'The cart keeps the old price: #412 changed the cache key. A fix is in draft.' },
];
const AGENT = `require('fs').writeFileSync(process.env.HOOKWRIGHT_OUTPUTS_FILE ?? '/dev/null', ${JSON.stringify(
  OUTPUTS.map((each) => JSON.stringify(each)).join('\n'),
)}); console.log('Labelled as a bug, and asked for the version.')`;

const configWith = (
  port: number,
): string => `agent: { command: ["node", "-e", ${JSON.stringify(AGENT)}], confined: a sample }
agents: { slow: { command: ["node", "-e", "setTimeout(() => {}, 1e9)"], confined: a sample, timeout_seconds: 3600 } }
platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-screenshots
    routes:
      triage:
        description: Labels new issues and answers them.
        source: github
        events: [issues]
        filters: [{ field: action, in: [opened, reopened] }]
        prompt: "Triage issue {issue.number} of {issue.user.login}: {issue.title}"
        deliver: log
        outputs:
          label: { deliver: github_labels, repo: "{repository.full_name}", number: "{issue.number}", allow: { labels: [bug, checkout, docs] }, max: 2 }
          comment: { deliver: github_comment, repo: "{repository.full_name}", pr_number: "{issue.number}" }
      alerts: { description: Tells the channel what is wrong., prompt: "{title} on {host}", deliver: telegram, deliver_extra: { chat_id: "-5" }, agent: none }
      payments: { description: Explains failed payments., prompt: "{id}", deliver: log, session_key: "{customer}", agent: slow }
      release-notes: { description: Announces a release after a person has read it., prompt: "Version {version} is out.", deliver: telegram, deliver_extra: { chat_id: "-7" }, agent: none, approve: true }
      deploys: { description: Reports each deploy., prompt: "{service}", deliver: log }
  telegram: { enabled: true, token: "1:a", api_base: "http://127.0.0.1:${port}" }
  github: { enabled: true, token: github_pat_11A0sample, api_base: "http://127.0.0.1:${port}" }
gateway: { name: production, console: { port: 0, token: ${TOKEN} }, drain_seconds: 0, approvals: { deliver: log } }
jobs:
  morning-brief: { schedule: "0 8 * * 1-5", prompt: Brief me., description: What happened in the night. }
  stale-issues: { schedule: "30 9 * * 1", prompt: Find stale issues., description: Closes issues without an answer. }
`;

const issue = (number: number, action = 'opened') => ({
  action,
  issue: { number, title: 'Cart shows the old price', user: { login: 'ada' }, labels: [] },
  repository: { full_name: 'shop/web' },
});

/** Figures of a day with a busy evening and some failures. */
async function addFigures(path: string): Promise<void> {
  const store = await openOfflineStore(path);
  const last = Date.now() - (Date.now() % 60_000);
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

const SCREENS = {
  'wide-light': { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  'small-dark': { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  'wide-dark': { viewport: { width: 1280, height: 800 }, colorScheme: 'dark' },
  'small-light': { viewport: { width: 390, height: 844 }, colorScheme: 'light' },
} as const;
/** The pictures of the documentation; others are taken by name. */
const SHOWN = [
  'overview-wide-light',
  'overview-small-dark',
  'requests-wide-light',
  'requests-small-dark',
  'event-wide-light',
  'event-small-dark',
  'approval-wide-dark',
  'routes-wide-dark',
];

const endings: (() => unknown)[] = [];
const after = { after: (end: () => unknown): void => void endings.push(end) } as never;

const double = createServer((request, response) => {
  request.resume().on('end', () => {
    const { url = '', method } = request;
    response.setHeader('content-type', 'application/json');
    if (url.includes('/labels')) return response.end('[]');
    if (method === 'GET') return response.end(url.endsWith('/user') ? '{"login":"triage-bot"}' : '[]');
    if (url.includes('/comments')) {
      return response.writeHead(201).end('{"id":7,"html_url":"https://github.com/shop/web/issues/7#issuecomment-7"}');
    }
    return response.writeHead(400).end('{"ok":false,"description":"chat not found"}');
  });
});
await new Promise<void>((resolve) => double.listen(0, '127.0.0.1', resolve));
endings.push(() => double.close());

const home = tempDir(after);
await addFigures(join(home, 'state.db'));
const gateway = await startGateway(after, { home, config: configWith((double.address() as AddressInfo).port) });
const url = (await gateway.status()).console ?? '';
const list = async (path: string): Promise<readonly { readonly id: string; readonly state?: string }[]> =>
  ((await (await fetch(`${url}/api/${path}`, { headers: AUTH })).json()) as { items: { id: string }[] }).items;
const send = (route: string, payload: object, ...more: readonly string[]) =>
  gateway.cli('webhook', 'test', route, '--payload', JSON.stringify(payload), '--yes', ...more);

await send('payments', { id: 'pay_81', customer: 'c1' });
await send('payments', { id: 'pay_82', customer: 'c1' });
for (let at = 0; at < 9; at++) {
  await send('triage', issue(at, at % 3 === 0 ? 'edited' : 'opened'), '--event', 'issues');
  await send('deploys', { service: `shop-${at}` });
}
await send('alerts', { title: 'Disk full', host: 'db-2' });
await send('release-notes', { version: '4.2.0' });
await send('triage', issue(7), '--event', 'issues');
await until(async () => (await list('deliveries?state=dead')).length === 1);
await until(async () => (await list('deliveries?state=waiting')).length === 1);
await until(async () => (await list('deliveries?state=done')).length >= 15);
const post = async (path: string, body: object): Promise<{ readonly id?: string }> => {
  const headers = { ...AUTH, 'content-type': 'application/json' };
  const response = await fetch(`${url}/api/${path}`, { method: 'POST', body: JSON.stringify(body), headers });
  return (await response.json()) as { id?: string };
};
await post('routes/deploys/pause', { seconds: 3600 });
const values = { time: '07:45', deliver: 'log' };
const stored = await post('blueprints/workday-start/jobs', { values, timezone: 'Europe/Berlin' });

const [event] = await list('deliveries?route=triage&limit=1');
const [approval] = await list('approvals');
const PLACES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['overview', 'requests', 'deliveries', 'routes', 'jobs', 'sessions', 'approvals', 'blueprints', 'nodes'].map(
      (each) => [each, each],
    ),
  ),
  event: `deliveries/${event?.id}`,
  ignored: `requests/${(await list('requests?outcome=ignored&limit=1'))[0]?.id}`,
  approval: `approvals/${approval?.id}`,
  route: 'routes/triage',
  job: 'jobs/morning-brief',
  stored: `jobs/${stored.id}`,
  custom: 'deliveries?range=custom&since=2026-01-01T00:00&until=2036-01-01T00:00&state=done',
  blueprint: `blueprints/${((await (await fetch(`${url}/api/blueprints`, { headers: AUTH })).json()) as { items: { key: string }[] }).items[0]?.key}`,
  chips: 'requests?route=triage&outcome=ignored&range=86400',
};

const document = await buildConsole(ROOT);
const browser = await launchBrowser();
endings.push(() => browser.close());
mkdirSync(folder, { recursive: true });
for (const [screen, options] of Object.entries(SCREENS)) {
  const context = await browser.newContext({ ...options, extraHTTPHeaders: AUTH });
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(error.message));
  page.on('console', (message) => console.error(message.text()));
  // The program may not be built: the page comes from the sources.
  await page.route(`${url}/`, (route) => route.fulfill({ contentType: 'text/html', body: document }));
  for (const [name, place] of Object.entries(PLACES)) {
    const file = `${name}-${screen}`;
    const isWanted = wanted.length === 0 ? SHOWN.includes(file) : wanted.some((each) => file.includes(each));
    if (!isWanted) continue;
    await page.goto(`${url}/#/${place}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await until(async () => (await page.getByText('Loading…').count()) === 0);
    await page.waitForTimeout(300);
    const picture = await page.screenshot({ fullPage: name !== 'requests' });
    writeFileSync(join(folder, `console-${file}.png`), picture);
    const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    console.log(file, picture.length, Number(wide) > 0 ? `${wide} px too wide` : '');
  }
  await context.close();
}
for (const end of endings.reverse()) await end();
