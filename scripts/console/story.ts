/**
 * A week of a small shop's gateway, for the screenshots. Its clock is set before each event, so that times, counts and charts agree:
 * a quiet week with a brief each morning, one of which failed; then a day of deploys and issues, a release that ben approved and two
 * that wait, a chat that was down for a minute and one that was deleted, a burst of messages, a paused route, two busy customers.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../../runtime/platform/clock.ts';
import { connect } from '../../runtime/store/sqlite/driver.ts';
import type { Ending } from '../../test/helpers/at-end.ts';
import { startGateway, until } from '../../test/helpers/gateway.ts';
import { openOfflineStore } from '../../test/helpers/rescued-store.ts';
import { tempDir } from '../../test/helpers/temp-dir.ts';

const SECRET = 'a-literal-secret-for-screenshots';
const TOKENS = { ann: 'token-of-ann-for-screenshots', ben: 'token-of-ben-for-screenshots' };
export const AUTH = { authorization: `Bearer ${TOKENS.ann}` };

const MINUTE_MS = 60_000;
const DAY_MIN = 1440;
/** Before the last day. */
const DAYS = 6;

/** The answer to a prompt: what the models of the shop would say. */
const AGENT = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
const prompt = readFileSync(0, 'utf8');
const input_tokens = 1800 + 37 * (prompt.length % 40);
const output_tokens = 140 + 11 * (prompt.length % 17);
const usage = { input_tokens, output_tokens, cost: Math.round(input_tokens * 3 + output_tokens * 15) / 1e6 };
writeFileSync(process.env.HOOKWRIGHT_USAGE_FILE, JSON.stringify(usage));
const number = /Triage issue (\\d+)/.exec(prompt)?.[1];
const version = /release ([\\d.]*\\d)/.exec(prompt)?.[1];
if (number !== undefined) {
  const isBug = /price|empty|slow|fails|twice/.test(prompt);
  const text = isBug
    ? 'Thank you. I can reproduce this with the newest version: the cart keeps the price of the first visit. #398 changed the cache key. A fix is in draft.'
    : 'Thank you. This is planned for the next release.';
  const labels = isBug ? ['bug', 'checkout'] : ['docs'];
  const lines = [{ output: 'label', labels }, { output: 'comment', text }].map((each) => JSON.stringify(each));
  writeFileSync(process.env.HOOKWRIGHT_OUTPUTS_FILE, lines.join('\\n'));
  console.log(isBug ? 'A bug of the checkout: labelled, and answered with the cause.' : 'A question: labelled and answered.');
} else if (version !== undefined) {
  console.log(\`Shop \${version} is out.\\n\\nNew: gift cards, and a faster search.\\nFixed: the cart no longer keeps an old price.\\n\\nNothing to do on your side: we have updated all shops.\`);
} else if (existsSync('brief')) console.log(readFileSync('brief', 'utf8'));
else {
  console.error('calendar: connection refused');
  process.exit(1);
}
`;

const configWith = (port: number): string => `agent: { command: ["node", "agent.mjs"], cwd: ".", confined: a sample }
agents:
  slow: { command: ["node", "-e", "setTimeout(() => {}, 1e9)"], confined: a sample, timeout_seconds: 3600 }
  writer: { command: ["node", "agent.mjs"], cwd: ".", confined: a sample }
platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    rate_limit: 600
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
      deploys: { description: Notes each deploy., prompt: "Deploy of {service} {version} to {region} is done.", deliver: log, agent: none }
      alerts: { description: Tells the channel what is wrong., prompt: "{title} on {host}", deliver: telegram, deliver_extra: { chat_id: "-1005551" }, agent: none }
      stock: { description: Tells the shop what runs low., prompt: "{count} left of {article}", deliver: telegram, agent: none, rate_limit: 3 }
      payments: { description: Explains failed payments., prompt: "Why did payment {id} of {customer} fail?", deliver: log, session_key: "{customer}", agent: slow }
      release-notes: { description: Announces a release once a person has read it., prompt: "Write the announcement of release {version}.", deliver: telegram, deliver_extra: { chat_id: "-1007770" }, approve: true, agent: writer }
  telegram: { enabled: true, token: "1:a", home_channel: "-1001112", api_base: "http://127.0.0.1:${port}" }
  github: { enabled: true, token: github_pat_11A0sample, api_base: "http://127.0.0.1:${port}" }
gateway:
  name: production
  timezone: Europe/Berlin
  console: { port: 0, users: { ann: { token: ${TOKENS.ann}, role: operator }, ben: { token: ${TOKENS.ben}, role: operator } } }
  drain_seconds: 0
  approvals: { deliver: log }
jobs:
  morning-brief: { schedule: "0 8 * * 1-5", prompt: "What happened in the night, and what needs me?", description: What happened in the night., deliver: telegram }
  stale-issues: { schedule: "30 9 * * 1", prompt: "Find issues without an answer for a month.", description: Lists issues without an answer. }
`;

const ISSUES = [
  ['Cart shows the old price', 'mira'],
  ['How do I change the currency?', 'tom'],
  ['Search is slow for two words', 'lena'],
  ['Invoice is empty for gift cards', 'sam'],
  ['Add a dark theme', 'noor'],
  ['Login fails after a password reset', 'jo'],
  ['Which browsers are supported?', 'eva'],
  ['Order is sent twice', 'mira'],
  ['Translate the checkout to Polish', 'ola'],
  ['Coupon fails at the last step', 'raj'],
] as const;
const SERVICES = ['cart', 'search', 'checkout', 'media', 'accounts'];

const issue = (at: number, action = 'opened', first = 405) => {
  const [title = '', login = ''] = ISSUES[at % ISSUES.length] ?? [];
  const labels: readonly string[] = [];
  return {
    action,
    issue: { number: first + at, title, user: { login }, labels },
    repository: { full_name: 'shop/web' },
  };
};

const STATUS = { taken: 202, ignored: 200, duplicate: 200, refused: 401, limited: 429 };
type Outcome = keyof typeof STATUS;
/** The event of a route whose sender is the shop itself, and the start of its ids. */
const OWN: Readonly<Record<string, readonly [event: string, id: string]>> = {
  deploys: ['deploy.finished', 'dep'],
  alerts: ['alert.raised', 'alert'],
  stock: ['stock.low', 'stock'],
  payments: ['payment.failed', 'pay'],
  'release-notes': ['release.published', 'rel'],
};
/** An event of the week. @property ago minutes @property id of the sender; absent: a new one */
type Sent = { ago: number; route: string; payload: object; outcome: Outcome; id?: string };

/** The events until an hour ago: more by day than by night. All are within 24 hours when the pages show them. */
function day(): readonly Sent[] {
  const hours = Array.from({ length: 22 }, (_, at) => DAY_MIN - 45 - 60 * at);
  const isBusy = (ago: number): boolean => {
    const hour = new Date(Date.now() - ago * MINUTE_MS).getUTCHours();
    return hour >= 7 && hour < 19;
  };
  let [deploys, issues] = [0, 0];
  const deployed = (ago: number): Sent => {
    const version = `1.${40 + deploys}.0`;
    const region = deploys % 2 === 0 ? 'eu-1' : 'us-1';
    const payload = { service: SERVICES[deploys++ % SERVICES.length], version, region };
    return { ago, route: 'deploys', payload, outcome: 'taken' };
  };
  const triaged = (ago: number, outcome: Outcome, action = 'opened'): Sent => {
    const payload = issue(outcome === 'taken' ? issues++ : issues - 1, action);
    return { ago, route: 'triage', payload, outcome };
  };
  return hours.flatMap((ago, at): readonly Sent[] => {
    if (!isBusy(ago)) return at % 2 === 0 ? [deployed(ago - 7)] : [];
    const opened = [ago - 12, ago - 41].map((each) => triaged(each, 'taken'));
    const edited = [ago - 14, ago - 19, ago - 44].map((each) => triaged(each, 'ignored', 'edited'));
    const forged = at % 8 === 6 ? [triaged(ago - 23, 'refused')] : [];
    return [deployed(ago - 7), ...opened, ...edited, ...forged, deployed(ago - 28), deployed(ago - 52)];
  });
}

/** The services of other companies. */
async function startDouble(
  after: (end: () => unknown) => void,
): Promise<{ readonly port: number; close: () => void; fail: () => void }> {
  let isChatGone = false;
  let fails = 0;
  const double = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      const { url = '', method } = request;
      response.setHeader('content-type', 'application/json');
      if (url.includes('/labels')) return response.end('[]');
      if (method === 'GET') return response.end(url.endsWith('/user') ? '{"login":"triage-bot"}' : '[]');
      const [, number] = /issues\/(\d+)\/comments/.exec(url) ?? [];
      if (number !== undefined) {
        const html_url = `https://github.com/shop/web/issues/${number}#issuecomment-21${number}`;
        return response.writeHead(201).end(JSON.stringify({ id: 7, html_url }));
      }
      if (fails-- > 0) return response.writeHead(503).end('{"ok":false,"error_code":503,"description":"Bad Gateway"}');
      if (isChatGone && body.includes('-1005551'))
        return response.writeHead(400).end('{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}');
      return response.end('{"ok":true,"result":{"message_id":4711}}');
    });
  });
  await new Promise<void>((resolve) => double.listen(0, '127.0.0.1', resolve));
  after(() => double.close());
  return {
    port: (double.address() as AddressInfo).port,
    close: () => {
      isChatGone = true;
    },
    fail: () => {
      fails = 1;
    },
  };
}

/** The charts show what the lists show. */
async function writeFigures(path: string, sent: readonly Sent[], now: number): Promise<void> {
  const db = connect(path, { busyMs: 5000 });
  db.exec('DELETE FROM figure');
  db.close();
  const store = await openOfflineStore(path);
  for (const [at, { ago, outcome }] of sent.entries()) {
    const time = now - ago * MINUTE_MS;
    const of = outcome === 'limited' ? 'refused' : outcome;
    const counts = { taken: 0, ignored: 0, duplicate: 0, refused: 0, failed: 0, [of]: 1 };
    const figures = { ...counts, waiting: 0, half_us: 9000 + 700 * (at % 7), most_us: 21_000 + 3100 * (at % 11) };
    await store.write({ kind: 'add_figures', minute: time - (time % MINUTE_MS), figures });
  }
  await store.close();
}

/** What the job tells each morning, the oldest first; one morning it fails. */
const BRIEFS = [
  'A quiet night: one deploy, healthy. One issue was labelled. Nothing waits for you.',
  'One deploy, healthy. The search is slow since yesterday evening: an issue has the details.',
  'Release 4.1.6 is out. One question about browsers, answered.',
  '',
  'One deploy, healthy. Login fails after a password reset: a fix is in draft.',
];
const TODAY = 'Three deploys, all healthy. Two new bugs of the checkout, both answered. Nothing waits for you.';
const LIMITED = { outcome: 'limited' } as const;

interface Told {
  readonly url: string;
  readonly get: (path: string) => Promise<{ readonly items: readonly { readonly id: string }[] }>;
  /** The job that was created from a blueprint. */
  readonly job: string;
}

/** Starts the gateway, and lets the day happen. */
export async function tellStory(t: Ending): Promise<Told> {
  const after = (end: () => unknown): void => t.after(end);
  const double = await startDouble(after);
  const home = tempDir(t as never);
  writeFileSync(join(home, 'agent.mjs'), AGENT);
  let offset = 0;
  const clock = { ...systemClock, now: () => Date.now() - offset };
  const goTo = (ago: number): void => {
    offset = ago * MINUTE_MS;
  };
  const start = () => startGateway(t, { home, config: configWith(double.port), context: { clock } });

  goTo(DAYS * DAY_MIN + 5);
  let gateway = await start();
  let url = (await gateway.status()).console ?? '';
  const get: Told['get'] = async (path) =>
    (await (await fetch(`${url}/api/${path}`, { headers: AUTH })).json()) as Awaited<ReturnType<Told['get']>>;
  const post = async (path: string, body: object, token = TOKENS.ann): Promise<{ readonly id?: string }> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/api/${path}`, { method: 'POST', body: JSON.stringify(body), headers });
    return (await response.json()) as { id?: string };
  };
  const sent: Sent[] = [];
  const send = async ({ ago, route, payload, outcome, id }: Sent): Promise<void> => {
    goTo(ago);
    const [event_type, prefix] = OWN[route] ?? [];
    const body = JSON.stringify(event_type === undefined ? payload : { event_type, ...payload });
    const sign = (text: string): string => createHmac('sha256', SECRET).update(text).digest('hex');
    const seconds = String(Math.floor(clock.now() / 1000));
    const github = {
      'user-agent': 'GitHub-Hookshot/8d6d1c4',
      'x-github-event': 'issues',
      'x-github-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${outcome === 'refused' ? '0'.repeat(64) : sign(body)}`,
    };
    const generic = {
      'user-agent': `shop-${route}/2.1`,
      'x-request-id': id ?? `${prefix}-${3100 + sent.length}`,
      'x-webhook-timestamp': seconds,
      'x-webhook-signature-v2': sign(`${seconds}.${body}`),
    };
    const headers = { 'content-type': 'application/json', ...(route === 'triage' ? github : generic) };
    const status = await until(async () => {
      const answer = await fetch(`${gateway.url}/webhooks/${route}`, { method: 'POST', body, headers });
      return answer.status !== 503 && answer.status;
    });
    if (status !== STATUS[outcome]) throw new Error(`${route} responded with ${status}: it should be ${outcome}`);
  };
  /** The clock is set again only when nothing runs any more. */
  const settled = (count: number): Promise<unknown> =>
    until(async () => {
      const open = ['pending', 'running', 'delivering'].map((state) => get(`deliveries?state=${state}`));
      return (await Promise.all(open)).reduce((sum, { items }) => sum + items.length, 0) === count;
    });

  const happens = async (event: Sent, open = 0): Promise<void> => {
    await send(event);
    await settled(open);
    // Stores the figures of this minute.
    await get('figures?span=hour');
    sent.push(event);
  };
  const taken = (route: string, ago: number, payload: object): Sent => ({ ago, route, payload, outcome: 'taken' });
  const news = (ago: number, version: string): Sent => taken('release-notes', ago, { version });
  const alert = (ago: number, title: string, host: string): Sent => taken('alerts', ago, { title, host });
  const brief = async (ago: number, text: string): Promise<void> => {
    const file = join(home, 'brief');
    if (text === '') rmSync(file, { force: true });
    else writeFileSync(file, text);
    goTo(ago);
    await post('jobs/morning-brief/run', {});
    await settled(0);
  };
  // The clock leaps over the times at which they are due.
  const JOBS = ['morning-brief', 'stale-issues'];
  for (const job of JOBS) await post(`jobs/${job}/pause`, {});
  for (let before = DAYS; before > 1; before--) {
    const end = before * DAY_MIN;
    await brief(end - 10, BRIEFS[DAYS - before] ?? '');
    await happens(
      taken('deploys', end - 130, { service: SERVICES[before - 1], version: `1.${33 - before}.0`, region: 'eu-1' }),
    );
    await happens(taken('triage', end - 260, issue(9 - before, 'opened', 390)));
    if (before % 2 === 0) await happens(news(end - 350, `4.1.${8 - before / 2}`));
    for (const { id } of (await get('approvals')).items) await post(`approvals/${id}`, { approve: true }, TOKENS.ben);
    await settled(0);
  }
  await happens(news(DAY_MIN - 32, '4.1.9'));
  const [early] = (await get('approvals')).items;
  goTo(DAY_MIN - 36);
  await post(`approvals/${early?.id}`, { approve: true }, TOKENS.ben);
  await settled(0);
  writeFileSync(join(home, 'brief'), TODAY);
  const values = { time: '07:45', deliver: 'origin' };
  const stored = await post('blueprints/workday-start/jobs', { values, timezone: 'Europe/Berlin' });
  await post(`jobs/${stored.id}/run`, {});
  await settled(0);
  await post(`jobs/${stored.id}/pause`, {});
  const flood = ['mug', 'scarf', 'poster', 'tote bag'].map((article, each): Sent => {
    return { ...taken('stock', 432, { count: 5 - each, article }), ...(each < 3 ? {} : LIMITED) };
  });
  const at = [...day(), alert(611, 'Disk almost full', 'db-2'), alert(302, 'High load', 'web-4'), ...flood];
  for (const event of at.sort((one, other) => other.ago - one.ago)) await happens(event);
  const deploy = taken('deploys', 82, { service: 'cart', version: '1.98.0', region: 'eu-1' });
  await happens({ ...deploy, id: 'dep-3299' });
  await happens({ ...deploy, ago: 80, outcome: 'duplicate', id: 'dep-3299' });
  double.fail();
  const delayed = alert(76, 'Memory is low', 'web-2');
  await send(delayed);
  sent.push(delayed);
  goTo(75);
  await settled(0);
  await brief(70, TODAY);
  for (const job of [...JOBS, stored.id]) await post(`jobs/${job}/resume`, {});
  await gateway.stop();
  await writeFigures(join(home, 'state.db'), sent, Date.now());

  goTo(60);
  gateway = await start();
  url = (await gateway.status()).console ?? '';
  await happens(news(38, '4.2.0'));
  goTo(25);
  await post('routes/deploys/pause', { seconds: 4 * 3600 }, TOKENS.ben);
  double.close();
  await happens(alert(14, 'Disk full', 'db-2'));
  await happens(news(13, '4.2.1'));
  await happens({ ago: 11, route: 'triage', payload: issue(29, 'edited'), outcome: 'ignored' });
  await happens({ ago: 9, route: 'triage', payload: issue(30), outcome: 'taken' });
  const payments = ['c-301', 'c-318', 'c-322', 'c-301'];
  for (const [each, customer] of payments.entries())
    await happens(taken('payments', 8 - 2 * each, { id: `pay_81${17 + 4 * each}`, customer }), each + 1);
  goTo(0);
  return { url, get, job: stored.id ?? '' };
}
