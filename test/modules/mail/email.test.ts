/** Tests mail through a real SMTP server on 127.0.0.1, with STARTTLS and AUTH. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { SMTPServerOptions } from 'smtp-server';
import { SMTPServer } from 'smtp-server';
import { readSmtpServer } from '../../../modules/mail/runtime/email.ts';
import type { DeliveryRequest } from '../../../runtime/deliver/deliverer.ts';
import { createTestDeliverer, deliveryTo } from '../../helpers/deliveries.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { bindingOf, shippedTarget } from '../../helpers/targets.ts';

interface Received {
  readonly secure: boolean;
  readonly user: string | undefined;
  readonly from: string;
  readonly to: readonly string[];
  readonly mail: string;
}

type Fail = (code: number) => Error;
const failWith: Fail = (code) => Object.assign(new Error('no'), { responseCode: code });

const PEM = (name: string): string => readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url), 'utf8');

async function startSmtp(t: TestContext, options: SMTPServerOptions = {}) {
  const received: Received[] = [];
  const server = new SMTPServer({
    key: PEM('localhost-key'),
    cert: PEM('localhost'),
    authMethods: ['PLAIN', 'LOGIN'],
    closeTimeout: 50,
    onAuth: ({ username, password }, _, done) =>
      password === 'canary-pass' ? done(null, { user: username ?? '' }) : done(failWith(535)),
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          secure: session.secure,
          user: session.user,
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          mail: Buffer.concat(chunks).toString('utf8'),
        });
        done(null);
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as AddressInfo).port, received };
}

function deliverer(t: TestContext, port: number, settings: Readonly<Record<string, string>> = {}) {
  const binding = bindingOf({
    smtp_host: '127.0.0.1',
    smtp_port: String(port),
    smtp_user: 'ops',
    smtp_pass: 'canary-pass',
    from: 'Hooks <hooks@example.org>',
    ...settings,
  });
  const clock = new FakeClock();
  return createTestDeliverer(t, {
    targets: [shippedTarget('email')],
    bindings: { default: { email: binding } },
    clock,
  });
}

const mail = (more: Partial<DeliveryRequest> = {}): DeliveryRequest =>
  deliveryTo('email', { extra: { chat_id: 'ada@example.org' }, text: 'Grüße\n.\nzwei 😀\n', ...more });

test('a mail is sent after STARTTLS and AUTH, as plain text with a stable id', async (t) => {
  const { port, received } = await startSmtp(t);
  const outcome = await deliverer(t, port).deliver(
    mail({ extra: { chat_id: 'ada@example.org', subject: 'Build\r\nBcc: x@y' } }),
  );
  assert.equal(outcome.kind, 'ok', JSON.stringify(outcome));
  const [one] = received;
  assert.equal(one?.secure, true);
  assert.equal(one?.user, 'ops');
  assert.equal(one?.from, 'hooks@example.org');
  assert.deepEqual(one?.to, ['ada@example.org']);
  const [head = '', ...rest] = (one?.mail ?? '').split('\r\n\r\n');
  assert.match(head, /^From: "?Hooks"? <hooks@example\.org>$/m);
  assert.match(head, /^To: ada@example\.org$/m);
  assert.match(head, /^Subject: Build Bcc: x@y$/m);
  assert.doesNotMatch(head, /^Bcc:/m);
  assert.match(head, /^Auto-Submitted: auto-generated$/m);
  assert.match(head, /^Content-Type: text\/plain; charset=utf-8$/m);
  const id = /^Message-ID: (<[0-9a-f]{40}@example\.org>)$/m.exec(head)?.[1];
  assert.equal(outcome.kind === 'ok' && outcome.message_id, id);
  const encoded = rest.join('\r\n\r\n');
  const body = /base64/.test(head)
    ? Buffer.from(encoded, 'base64').toString('utf8')
    : Buffer.from(
        encoded
          .replace(/=\r\n/g, '')
          .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
        'latin1',
      ).toString('utf8');
  assert.equal(body.replaceAll('\r\n', '\n').trimEnd(), 'Grüße\n.\nzwei 😀');
  await deliverer(t, port).deliver(mail());
  assert.equal(/^Message-ID: (.*)$/m.exec(received[1]?.mail ?? '')?.[1], id);
});

test('a thread gets a reply, and the default subject names the route', async (t) => {
  const { port, received } = await startSmtp(t);
  await deliverer(t, port).deliver(mail({ extra: { chat_id: 'ada@example.org', thread_id: '<a@b>' } }));
  assert.match(received[0]?.mail ?? '', /^In-Reply-To: <a@b>$/m);
  assert.match(received[0]?.mail ?? '', /^References: <a@b>$/m);
  assert.match(received[0]?.mail ?? '', /^Subject: \[hookwright\] builds$/m);
});

test('a text that shows nothing is not sent', async (t) => {
  const { port, received } = await startSmtp(t);
  for (const text of [' ', '\u200b', '\u2800'])
    assert.equal((await deliverer(t, port).deliver(mail({ text }))).kind, 'permanent');
  assert.deepEqual(received, []);
});

test('the reply of the server decides the outcome', async (t) => {
  const at = (stage: 'onMailFrom' | 'onRcptTo', code: number): SMTPServerOptions => ({
    [stage]: (_: unknown, __: unknown, done: (error: Error) => void) => done(failWith(code)),
  });
  const CASES: readonly (readonly [string, SMTPServerOptions, Readonly<Record<string, string>>, string])[] = [
    ['a wrong password', {}, { smtp_pass: 'wrong-pass' }, 'permanent'],
    ['no login where one is wanted: the target waits for its settings', {}, { smtp_user: '' }, 'retry'],
    ['come back later, to the sender', at('onMailFrom', 451), {}, 'retry'],
    ['come back later, to the recipient', at('onRcptTo', 450), {}, 'retry'],
    ['no such recipient', at('onRcptTo', 550), {}, 'permanent'],
    ['refused at the greeting', { onConnect: (_, done) => done(failWith(421)) }, {}, 'retry'],
    [
      'refused after the mail',
      { onData: (stream, _, done) => stream.on('end', () => done(failWith(554))).resume() },
      {},
      'permanent',
    ],
    [
      'busy after the mail',
      { onData: (stream, _, done) => stream.on('end', () => done(failWith(452))).resume() },
      {},
      'retry',
    ],
  ];
  for (const [name, options, settings, kind] of CASES) {
    const { port } = await startSmtp(t, options);
    const outcome = await deliverer(t, port, settings).deliver(mail());
    assert.equal(outcome.kind, kind, `${name}: ${JSON.stringify(outcome)}`);
    assert.doesNotMatch(JSON.stringify(outcome), /canary/);
  }
});

test('a connection that breaks after the mail is ambiguous, one before it is not', async (t) => {
  const sockets = new Set<{ destroy(): void }>();
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const after = await startSmtp(t, {
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    onData: (stream) => void stream.on('end', cut).resume(),
  });
  const before = await startSmtp(t, { onMailFrom: cut });
  const { Socket } = await import('node:net');
  const original = Socket.prototype.connect;
  t.mock.method(
    Socket.prototype,
    'connect',
    function connect(this: InstanceType<typeof Socket>, ...args: Parameters<typeof original>) {
      sockets.add(this);
      return original.apply(this, args);
    },
  );
  assert.equal((await deliverer(t, after.port).deliver(mail())).kind, 'ambiguous');
  assert.equal((await deliverer(t, before.port).deliver(mail())).kind, 'retry');
  assert.equal((await deliverer(t, 1).deliver(mail())).kind, 'retry');
});

test('an aborted delivery ends immediately', async (t) => {
  const giveUp = new AbortController();
  const { port } = await startSmtp(t, { onMailFrom: () => giveUp.abort() });
  const subject = deliverer(t, port);
  assert.equal((await subject.deliver(mail({ signal: giveUp.signal }))).kind, 'retry');
  assert.equal((await subject.deliver(mail({ signal: giveUp.signal }))).kind, 'retry', 'aborted before it started');
});

test('an address that is not a single mailbox is rejected', async (t) => {
  const { port, received } = await startSmtp(t);
  const subject = deliverer(t, port);
  for (const chat_id of ['ada', 'a@b, c@d', 'Ada <a@b.c>', 'a@b\r\nRCPT TO:<x@y>', '@', 'a b@c.d', '']) {
    assert.equal((await subject.deliver(mail({ extra: { chat_id } }))).kind, 'permanent', chat_id);
  }
  assert.equal(received.length, 0);
});

test('a dry run shows the mail and no password', async (t) => {
  const [shown] = await deliverer(t, 1).show(mail());
  assert.equal(shown?.kind, 'mail');
  assert.doesNotMatch(JSON.stringify(shown), /canary/);
});

test('only a server on this machine may omit encryption and a signed certificate', () => {
  const read = (settings: Readonly<Record<string, string>>, allow_http = false) =>
    readSmtpServer({
      profile: 'default',
      plan: shippedTarget('email'),
      binding: bindingOf({}, { allow_http }),
      homeChannel: null,
      apiBase: null,
      settings: new Map(Object.entries({ from: 'a@b.c', ...settings })),
      redact: (text) => text,
    });
  const remote = read({ smtp_host: 'mail.example.org' });
  assert.ok(typeof remote !== 'string');
  assert.equal(remote.options.requireTLS, true);
  assert.equal(remote.options.tls?.rejectUnauthorized, true);
  assert.equal(typeof read({ smtp_host: 'mail.example.org', smtp_secure: 'none' }), 'string');
  assert.equal(typeof read({ smtp_host: 'mail.example.org', smtp_secure: 'none' }, true), 'object');
  const implicit = read({ smtp_host: 'mail.example.org', smtp_port: '465' });
  assert.ok(typeof implicit !== 'string' && implicit.options.secure === true);
  for (const wrong of [{ smtp_port: '0' }, { smtp_port: 'x' }, { smtp_secure: 'maybe' }, { from: 'nowhere' }]) {
    assert.equal(typeof read({ smtp_host: 'localhost', ...wrong }), 'string', JSON.stringify(wrong));
  }
});
