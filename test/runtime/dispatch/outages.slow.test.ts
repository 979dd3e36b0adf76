/**
 * Every target of the catalog through every ordinary outage, with the real delivery loop: the number of messages that a double of the
 * service has received is never 0, and 1 wherever its documentation says that it recognises a repeat.
 */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import type { AddressInfo, Server } from 'node:net';
import { connect, createServer } from 'node:net';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { lowerBinding } from '../../../compiler/lower/binding.ts';
import type { Deliverer } from '../../../runtime/deliver/deliverer.ts';
import type { DispatchDelivery } from '../../../schemas/generated/types.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { createTestDeliverer } from '../../helpers/deliveries.ts';
import { claimOf, dispatchBench, storedIn } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { FakeGitHub } from '../../helpers/fake-github.ts';
import { FakeGitLab } from '../../helpers/fake-gitlab.ts';
import type { Answer, FakeAnswer, SeenRequest } from '../../helpers/fake-http.ts';
import { startFakeHttp } from '../../helpers/fake-http.ts';
import { until } from '../../helpers/gateway.ts';
import { deliverHttp } from '../../helpers/http-target.ts';
import type { TargetCase } from '../../helpers/target-cases.ts';
import { TARGET_CASES } from '../../helpers/target-cases.ts';
import { shippedTarget, shippedTargets } from '../../helpers/targets.ts';

/** What happens to the first request. */
interface Fault {
  readonly name: string;
  /** Whether the service posts the message before it fails; null: the request does not reach it. */
  readonly posts: boolean | null;
  /** How the connection fails, if it does; `silent`: there is no answer. */
  readonly end?: 'refused' | 'reset' | 'drop' | 'silent';
  readonly status?: number;
  /** Seconds. */
  readonly retryAfter?: number;
}

const AFTER = 17;
const UNKNOWN = [500, 502, 504, 520, 408];
const REFUSED = [503, 429, 425];
const FAULTS: readonly Fault[] = [
  ...UNKNOWN.map((status) => ({ name: `${status}`, status, posts: true })),
  ...[...UNKNOWN, ...REFUSED].flatMap((status) => [
    { name: `${status}`, status, posts: false },
    { name: `${status}, Retry-After`, status, posts: false, retryAfter: AFTER },
  ]),
  { name: 'refused', posts: null, end: 'refused' },
  { name: 'reset before it was read', posts: null, end: 'reset' },
  { name: 'reset after it was read', posts: false, end: 'drop' },
  { name: 'reset after it was read', posts: true, end: 'drop' },
  { name: 'time-out', posts: true, end: 'silent' },
];

/** A double in its first outage. */
interface Double {
  readonly deliverer: Deliverer;
  readonly clock: FakeClock;
  readonly delivery: DispatchDelivery;
  /** Number of different messages that the service shows. */
  readonly messages: () => number;
  /** Requests that the service has read. */
  readonly seen: () => number;
  readonly front: Front;
}

interface Subject {
  readonly name: string;
  readonly target: string;
  /** The service documents that it recognises a repeat. */
  readonly recognises: boolean;
  readonly start: (t: TestContext, fault: Fault) => Promise<Double>;
}

/** Stands before a service: not listening, resetting each connection, or passing it on. */
class Front {
  port = 0;
  private readonly server: Server;

  constructor(target: () => number, resets: () => boolean) {
    this.server = createServer((client) => {
      if (resets()) return void client.resetAndDestroy();
      const server = connect(target(), '127.0.0.1');
      client.pipe(server).pipe(client);
      const end = (): void => void [client, server].map((side) => side.destroy());
      for (const side of [client, server]) side.on('error', end).on('close', end);
    });
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  close(): Promise<void> {
    return new Promise((resolve) => void this.server.close(() => resolve()));
  }
}

async function startFront(t: TestContext, fault: Fault, target: () => number): Promise<Front> {
  let connections = 0;
  const front = new Front(target, () => fault.end === 'reset' && connections++ === 0);
  await front.open();
  if (fault.end === 'refused') await front.close();
  atEnd(t, () => front.close().catch(() => {}));
  return front;
}

/** Fails the first request as the fault says; later ones are answered as usual. @param post the service's own answer, which posts */
function failing({ status = 200, posts, end, retryAfter }: Fault) {
  let isFirst = posts !== null;
  return (post: () => FakeAnswer): Answer => {
    if (!isFirst) return post();
    isFirst = false;
    if (posts === true) post();
    if (end === 'drop') return 'drop';
    if (end === 'silent') return () => {};
    const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
    return { status, headers, body: '<html>try again later</html>' };
  };
}

/**
 * A service whose requests are in the table of cases. A repeat is the same request, byte for byte, with its key.
 * @param inExchange the request for a token fails, and not the message
 */
const ofCase = (one: TargetCase, inExchange: boolean): Subject => ({
  name: `${one.target}: ${one.name}${inExchange ? ', at the exchange of the token' : ''}`,
  target: `${one.target} ${one.variant}`,
  // A second token does no harm.
  recognises: one.idempotent || inExchange,
  async start(t, fault) {
    const posted: string[] = [];
    let seen = 0;
    const fail = failing(fault);
    const server = await startFakeHttp(t, (request) => {
      const isExchange = request.path === one.exchange?.request.path;
      if (isExchange === inExchange) seen++;
      const usual = (): FakeAnswer => {
        if (isExchange) return { body: JSON.parse(JSON.stringify(one.exchange?.answer).replace('TOKEN', 'canary-1')) };
        posted.push(one.idempotent ? `${request.path} ${request.body}` : String(posted.length));
        return one.ok[0] ?? {};
      };
      return isExchange === inExchange ? fail(usual) : usual();
    });
    const front = await startFront(t, fault, () => server.port);
    const url = `http://127.0.0.1:${front.port}`;
    const settings = Object.entries(one.settings).map(([name, value]) => [name, value.replace('{server}', url)]);
    const base = one.apiBase === false ? {} : { api_base: url };
    const shipped = shippedTarget(one.target);
    const plan = { ...shipped, variants: shipped.variants.map((variant) => ({ ...variant, pacing: [] })) };
    const config = { enabled: true, variant: one.variant, ...base, ...Object.fromEntries(settings) };
    const { binding, clock } = bind(config, plan);
    const deliverer = createTestDeliverer(t, {
      targets: [plan],
      bindings: { default: { [one.target]: binding } },
      clock,
    });
    const delivery = { target: one.target, extra: one.extra ?? {}, unresolved: [] };
    return { deliverer, clock, delivery, front, seen: () => seen, messages: () => new Set(posted).size };
  },
});

function bind(config: object, plan: ReturnType<typeof shippedTarget>) {
  const scope = { profile: 'default', max_attempts: 8, at_most_once: false };
  const { plan: binding, problems } = lowerBinding({ enabled: true, ...config }, plan, scope);
  assert.ok(binding !== null, JSON.stringify(problems));
  return { binding, clock: new FakeClock() };
}

const HTTP: Subject = {
  name: 'http',
  target: 'http default',
  recognises: true,
  async start(t, fault) {
    const posted = new Set<unknown>();
    let seen = 0;
    const fail = failing(fault);
    const server = await startFakeHttp(t, ({ headers }) => {
      seen++;
      assert.equal(headers['idempotency-key'], headers['webhook-id']);
      return fail(() => ({ status: posted.add(headers['webhook-id']).size > 0 ? 204 : 500 }));
    });
    const front = await startFront(t, fault, () => server.port);
    const clock = new FakeClock();
    const more = { url: `http://127.0.0.1:${front.port}/x`, allow_http: true, allow_private: true };
    const deliverer = deliverHttp(t, more, { clock });
    const delivery = { target: 'http', extra: {}, unresolved: [] };
    return { deliverer, clock, delivery, front, seen: () => seen, messages: () => posted.size };
  },
};

const SHA = '6dcb09b5b57875f334f61aebed695e2e4193db5e';
const KEYS = generateKeyPairSync('rsa', { modulusLength: 2048 });
const TOKEN = { token: 'canary-0001', login: 'our-bot' };
const APP = { app_id: '77', private_key: KEYS.privateKey.export({ type: 'pkcs1', format: 'pem' }) as string };
type Content = NonNullable<DispatchDelivery['output']>['content'];

/** Targets of code hosts, with the address and the output of an agent; `count` counts what the host shows. */
const GITHUB: Readonly<
  Record<string, readonly [Record<string, string>, Content | null, (host: FakeGitHub) => number]>
> = {
  github_comment: [{ repo: 'o/r', pr_number: '42' }, null, ({ posts }) => posts.length],
  github_issue: [{ repo: 'o/r', title: 'T' }, null, ({ posts }) => posts.length],
  github_review: [{ repo: 'o/r', pr_number: '42' }, null, ({ posts }) => posts.length],
  github_labels: [
    { repo: 'o/r', number: '7' },
    { labels: ['bug'] },
    ({ labels }) => [...labels.values()][0]?.size ?? 0,
  ],
  github_reaction: [
    { repo: 'o/r', number: '7' },
    { text: 'eyes' },
    ({ reactions }) => [...reactions.values()].flat().length,
  ],
  github_status: [{ repo: 'o/r', sha: SHA, name: 'review' }, { state: 'success' }, ({ statuses }) => statuses.size],
};
const CHECK = { repo: 'o/r', sha: SHA, name: 'review' };
const GITHUB_APP: typeof GITHUB = {
  ...GITHUB,
  github_check: [CHECK, { conclusion: 'success', title: 'T', text: 'S' }, ({ posts }) => posts.length],
};
const NOTES = ({ notes }: FakeGitLab): number => [...notes.values()].flat().length;
const GITLAB: Readonly<
  Record<string, readonly [Record<string, string>, Content | null, (host: FakeGitLab) => number]>
> = {
  gitlab_note: [{ project: 'group/p', merge_request: '7' }, null, NOTES],
  gitlab_labels: [
    { project: 'group/p', issue: '3' },
    { labels: ['bug'] },
    ({ labels }) => [...labels.values()][0]?.length ?? 0,
  ],
  gitlab_status: [
    { project: 'group/p', sha: SHA, name: 'review' },
    { state: 'success' },
    ({ statuses }) => new Set(statuses.map(({ name }) => name)).size,
  ],
};

function ofHost<Host extends FakeGitHub | FakeGitLab>(
  target: string,
  [extra, content, count]: readonly [Record<string, string>, Content | null, (host: Host) => number],
  open: (t: TestContext, clock: FakeClock) => Promise<Host>,
  settings: Readonly<Record<string, string>> = TOKEN,
  variant = settings === APP ? 'app' : 'token',
): Subject {
  return {
    name: `${target}: ${variant}`,
    target: `${target} ${variant}`,
    recognises: true,
    async start(t, fault) {
      const clock = new FakeClock();
      const host = await open(t, clock);
      const fail = failing(fault);
      let seen = 0;
      host.next.push(
        ...Array.from({ length: 9 }, () => (_: SeenRequest, usual: () => FakeAnswer): Answer => {
          seen++;
          return fail(usual);
        }),
      );
      const front = await startFront(t, fault, () => host.server.port);
      const api_base = host.url.replace(/:\d+/, `:${front.port}`);
      const plan = shippedTarget(target);
      const { binding } = bind({ api_base, ...settings }, plan);
      const deliverer = createTestDeliverer(t, {
        targets: [plan],
        bindings: { default: { [target]: binding } },
        clock,
      });
      const output = content === null ? {} : { output: { name: 'out', content } };
      const delivery = { target, extra, unresolved: [], ...output };
      return { deliverer, clock, delivery, front, seen: () => seen, messages: () => count(host) };
    },
  };
}

const openGitHub = async (t: TestContext, clock: FakeClock): Promise<FakeGitHub> => {
  const host = await new FakeGitHub(() => clock.now()).start(t);
  host.tokens.set('canary-0001', 'our-bot');
  const installations = new Map([['o', 501]]);
  host.apps.set('77', { slug: 'our-app', publicKey: KEYS.publicKey, installations, suspended: new Set() });
  return host;
};

const openGitLab = async (t: TestContext): Promise<FakeGitLab> => {
  const host = await new FakeGitLab().start(t);
  host.tokens.set('canary-0001', 'our-bot');
  return host;
};

const SUBJECTS: readonly Subject[] = [
  // A reaction in a chat has no text.
  ...TARGET_CASES.filter(({ target }) => !target.endsWith('_reaction')).map((one) => ofCase(one, false)),
  ...TARGET_CASES.filter(({ exchange }) => exchange !== undefined).map((one) => ofCase(one, true)),
  HTTP,
  ...Object.entries(GITHUB).map(([target, how]) => ofHost(target, how, openGitHub)),
  ...Object.entries(GITHUB_APP).map(([target, how]) => ofHost(target, how, openGitHub, APP)),
  ...Object.entries(GITLAB).map(([target, how]) => ofHost(target, how, openGitLab, TOKEN, 'default')),
];

/** Sends one message through the outage, until it is delivered or dead. @returns the state, and the messages that the service shows */
async function outage(t: TestContext, { start }: Subject, fault: Fault, at_most_once: boolean) {
  const { deliverer, clock, delivery, messages, seen, front } = await start(t, fault);
  const policy = () => ({ max_attempts: 8, at_most_once });
  const { service, store } = dispatchBench({ clock, context: { deliverer, policy } });
  await service.accept(makeDispatch('a', { deliveries: [delivery] }), claimOf('1'), null);
  const stored = () => storedIn(store, 'a');
  const steps = () => stored()?.steps.filter(({ kind }) => kind === 'delivery') ?? [];
  if (fault.end === 'silent') {
    await until(async () => seen() > 0);
    clock.advance(200_000);
  }
  await until(async () => steps().length === 1);
  const [step] = steps();
  if (typeof step?.next_at !== 'number') return { state: stored()?.state, messages: messages(), steps: steps() };
  if (fault.retryAfter !== undefined) assert.ok(step.next_at - step.at >= AFTER * 1000, JSON.stringify(step));
  if (fault.end === 'refused') await front.open();
  clock.advance(step.next_at - clock.now());
  await until(async () => stored()?.state !== 'delivering');
  return { state: stored()?.state, messages: messages(), steps: steps() };
}

const atOf = ({ name, posts }: Fault): string => `${name}${posts === true ? ', after the message was posted' : ''}`;
/** The service has said, or the connection shows, that it has not taken the message. */
const isRefused = ({ status = 0, end }: Fault): boolean => status === 503 || status === 429 || end === 'refused';

/** One fault of each class. */
const isTypical = ({ status = 500, posts, retryAfter }: Fault): boolean =>
  retryAfter === undefined && (status === 500 ? posts !== false : REFUSED.includes(status));

for (const subject of SUBJECTS) {
  describe(subject.name, () => {
    for (const fault of FAULTS) {
      test(atOf(fault), async (t) => {
        const { state, messages, steps } = await outage(t, subject, fault, false);
        assert.equal(state, 'done', JSON.stringify(steps));
        const most = subject.recognises || fault.posts !== true ? 1 : 2;
        assert.ok(messages >= 1 && messages <= most, `${messages} messages`);
      });
    }
  });
}

describe('at most once', () => {
  for (const subject of SUBJECTS) {
    for (const fault of FAULTS.filter(isTypical)) {
      test(`${subject.name}: ${atOf(fault)}`, async (t) => {
        const { state, messages, steps } = await outage(t, subject, fault, true);
        assert.ok(messages <= 1, `${messages} messages`);
        if (!isRefused(fault) && !subject.recognises) return;
        assert.deepEqual([state, messages], ['done', 1], JSON.stringify(steps));
      });
    }
  }
});

/** SMTP has no status of HTTP: the server answers 4xx, or the connection breaks. */
describe('email', () => {
  for (const when of ['MAIL', 'DATA', 'the end of the data'] as const) {
    for (const end of ['451', 'cut'] as const) {
      test(`${end} at ${when}`, async (t) => {
        let isFirst = true;
        const ids: string[] = [];
        const failAt = (at: typeof when, socket: { destroy(): void } | undefined): Error | null => {
          if (!isFirst || at !== when) return null;
          isFirst = false;
          if (end === 'cut') socket?.destroy();
          return Object.assign(new Error('no'), { responseCode: 451 });
        };
        const socketOf = (session: object): { destroy(): void } | undefined => sockets.get(session) ?? last;
        const sockets = new Map<object, { destroy(): void }>();
        let last: { destroy(): void } | undefined;
        const server = new SMTPServer({
          authOptional: true,
          hideSTARTTLS: true,
          closeTimeout: 50,
          onMailFrom: (_, session, done) => done(failAt('MAIL', socketOf(session))),
          onRcptTo: (_, session, done) => done(failAt('DATA', socketOf(session))),
          onData(stream, session, done) {
            let text = '';
            stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
            stream.on('end', () => {
              ids.push(/^Message-ID: (.*)$/im.exec(text)?.[1] ?? '');
              done(failAt('the end of the data', socketOf(session)));
            });
          },
        });
        server.on('error', () => {});
        server.server.on('connection', (socket) => (last = socket));
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        atEnd(t, () => new Promise<void>((resolve) => server.close(() => resolve())));
        const { port } = server.server.address() as AddressInfo;
        const settings = { smtp_host: '127.0.0.1', smtp_port: port, smtp_secure: 'none', from: 'hooks@example.org' };
        const { binding, clock } = bind(settings, shippedTarget('email'));
        const bindings = { default: { email: binding } };
        const deliverer = createTestDeliverer(t, { targets: [shippedTarget('email')], bindings, clock });
        const { service, store } = dispatchBench({ clock, context: { deliverer } });
        const delivery = { target: 'email', extra: { chat_id: 'ada@example.org' }, unresolved: [] };
        await service.accept(makeDispatch('a', { deliveries: [delivery] }), claimOf('1'), null);
        const stored = () => storedIn(store, 'a');
        const attempts = () => stored()?.steps.filter(({ kind }) => kind === 'delivery').length;
        await until(async () => attempts() === 1);
        clock.advance(2400);
        await until(async () => stored()?.state === 'done');
        assert.equal(new Set(ids).size, 1, 'a repeat has the same Message-ID');
      });
    }
  }
});

test('every variant of every target that sends something is in the matrix', () => {
  const plans = Object.values(shippedTargets()).filter(({ name }) => !['email', 'log', 'local'].includes(name));
  const variants = plans.flatMap((plan) => plan.variants.map(({ name }) => `${plan.name} ${name}`));
  const covered = new Set(SUBJECTS.map(({ target }) => target));
  // Reactions in chats are in progress.test.ts.
  const sendsText = (name: string): boolean => name.startsWith('github_') || !name.includes('_reaction ');
  assert.deepEqual([...covered].filter(sendsText).sort(), variants.filter(sendsText).sort());
});
