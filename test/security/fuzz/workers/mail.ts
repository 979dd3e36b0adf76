/**
 * Fuzzes the replies of a mail server: damaged dialogues, replies out of order, bytes that are not SMTP. Each attempt ends with
 * an outcome without credentials.
 */
import assert from 'node:assert/strict';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import fc from 'fast-check';
import { createTestDeliverer, deliveryTo } from '../../../helpers/deliveries.ts';
import { bindingOf, shippedTarget } from '../../../helpers/targets.ts';
import { checkOutcome } from '../check-outcome.ts';
import { damaged, latin1 } from '../damage.ts';
import { ODD_TEXTS } from '../words.ts';
import type { FuzzWorker } from '../worker.ts';
import { Closing, LOOP_MS } from '../worker.ts';

interface MailCase {
  /**
   * The greeting, then a reply to each line or mail of the client; after the last the server closes the connection. One
   * character a byte.
   */
  readonly replies: readonly string[];
}

const GOOD = [
  '220 x ESMTP',
  '250-x\r\n250-AUTH PLAIN LOGIN\r\n250 SIZE 1000',
  '235 ok',
  '250 ok',
  '250 ok',
  '354 go',
  '250 queued',
];
const OTHERS = [
  '421 later',
  '454 later',
  '450 later',
  '535 no',
  '550 no',
  '552 full',
  '554 no',
  '334 VXNlcm5hbWU6',
  '250-',
  '220',
];
const WORDS = [
  '\r\n',
  '\n',
  '\r',
  '-',
  ' ',
  '2',
  '250',
  '334',
  '5.7.8',
  'AUTH',
  'STARTTLS',
  'canary-pass',
  '\0',
  '\xff',
  ...ODD_TEXTS,
].map((word) => Buffer.from(word, 'utf8').toString('latin1'));

/** Wait in ms until the server closes: the client waits for the rest of a reply, and the server for a line. */
const IDLE_MS = 100;

/** Replies to each line; none between `354` and the dot that ends the mail. */
function converse(socket: Socket, replies: readonly string[]): void {
  let [next, isMail, seen] = [0, false, ''];
  const reply = (): void => {
    const text = replies[next++];
    if (text === undefined) socket.end();
    else socket.write(latin1(`${text}\r\n`));
    isMail = text?.startsWith('354') === true;
  };
  socket.on('error', () => {});
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    seen += chunk;
    for (let end = seen.indexOf('\r\n'); end >= 0; end = seen.indexOf('\r\n')) {
      const line = seen.slice(0, end);
      seen = seen.slice(end + 2);
      if (!isMail || line === '.') reply();
    }
  });
  reply();
}

export const mail: FuzzWorker<MailCase> = {
  name: 'mail',
  cases: fc.record({
    replies: fc.oneof(
      fc
        .tuple(fc.nat({ max: GOOD.length }), fc.array(damaged([...GOOD, ...OTHERS], WORDS, 3), { maxLength: 4 }))
        .map(([length, others]) => [...GOOD.slice(0, length), ...others]),
      fc.array(fc.constantFrom(...GOOD, ...OTHERS), { maxLength: 8 }),
    ),
  }),
  async open() {
    const closing = new Closing();
    let replies: readonly string[] = [];
    const server = createServer((socket) => converse(socket, replies));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.after(() => new Promise((resolve) => server.close(resolve)));
    const settings = {
      ...{ smtp_host: '127.0.0.1', smtp_port: String((server.address() as AddressInfo).port), smtp_secure: 'none' },
      ...{ smtp_user: 'ops', smtp_pass: 'canary-pass', from: 'a@example.test' },
    };
    const bindings = { default: { email: bindingOf(settings, { home_channel: 'b@example.test' }) } };
    const deliverer = createTestDeliverer(closing, { targets: [shippedTarget('email')], bindings });
    assert.deepEqual(deliverer.problems, []);
    return {
      longestMs: LOOP_MS,
      close: () => closing.close(),
      async run(one) {
        ({ replies } = one);
        const before = deliverer.log.length;
        checkOutcome(await deliverer.deliver(deliveryTo('email')));
        assert.doesNotMatch(JSON.stringify(deliverer.log.slice(before)), /canary/i, 'a credential in the log');
      },
    };
  },
};
