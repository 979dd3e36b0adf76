import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { callControl, controlPaths } from '../../runtime/control/control-client.ts';
import { SHOWN_STATES } from '../../runtime/store/states.ts';
import { runInProcess } from '../helpers/cli.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const OWN = process.getuid?.() ?? 0;

const STATUS = {
  ...{
    pid: 1,
    version: '9',
    url: 'http://127.0.0.1:1',
    started_at: 0,
    state: 'serving',
    log_file: null,
    config: null,
    console: null,
  },
  table: { file: '/x', hash: 'h', generation: 1, loaded_at: 0, routes: 0, error: null },
  subscriptions: { serving: 0, quarantined: [], error: null },
  rate_limited: [],
  runs: { active: 0, queued: 0 },
  dispatches: {
    states: Object.fromEntries(SHOWN_STATES.map((state) => [state, 0])),
    oldest_open_at: null,
    last_error: null,
    dead: [],
  },
  paused: [],
  alerts: [],
  store: { problem: null, damage: null, refused: [], bytes: 0 },
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const says =
  (body: unknown, status = 200): Answer =>
  (_request, response) =>
    void response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));

/** A home whose socket must be in a temporary folder of the test, with a listener there. */
async function listenFor(t: TestContext, answer: Answer, deep = true) {
  // Short, so that the path of the socket fits.
  const tmp = mkdtempSync(join(tmpdir(), 'hw-'));
  t.after(() => rmSync(tmp, { recursive: true, force: true }));
  const home = deep ? join(tempDir(t), 'x'.repeat(90)) : tempDir(t);
  mkdirSync(home, { recursive: true });
  const { socket } = controlPaths(home, tmp);
  assert.equal(socket.startsWith(tmp), deep);
  mkdirSync(dirname(socket), { mode: 0o700, recursive: true });
  let asked = 0;
  const server = createServer((request, response) => {
    asked++;
    request.resume().once('end', () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  chmodSync(socket, 0o600);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const cli = (...argv: string[]) => runInProcess(argv, { home, context: { tmp } });
  return { socket, folder: dirname(socket), asked: () => asked, cli };
}

describe('the control client', () => {
  it('uses a socket in its own folder, also with a long home path', async (t) => {
    const { cli } = await listenFor(t, says(STATUS));
    const { code, stdout, stderr } = await cli('gateway', 'status');
    assert.match(stdout, /\bhookwright 9\b/, stderr);
    assert.equal(code, 0);
  });

  it('repeats a call if a busy gateway has not read the request in time', async (t) => {
    let late = 2;
    const { cli } = await listenFor(t, (...to) =>
      (late-- > 0 ? says({ code: 'request_timeout' }, 408) : says(STATUS))(...to),
    );
    const { code, stdout, stderr } = await cli('gateway', 'status');
    assert.match(stdout, /\bhookwright 9\b/, stderr);
    assert.equal(code, 0);
  });

  it('does not use a socket in a folder that others can write', async (t) => {
    const { folder, cli, asked } = await listenFor(t, says(STATUS));
    chmodSync(folder, 0o777);
    const { code, stderr } = await cli('gateway', 'status');
    assert.match(stderr, /^error: /);
    assert.deepEqual([code, asked()], [1, 0]);
  });

  it('does not use the socket of another user', async (t) => {
    const { socket, asked } = await listenFor(t, says(STATUS));
    await assert.rejects(callControl(socket, 'status', {}, 1000, OWN + 1), { code: 'foreign_socket' });
    assert.equal(asked(), 0);
  });

  it('does not use a socket if it or its folder belongs to another user', { skip: OWN !== 0 }, async (t) => {
    const { socket, folder, cli, asked } = await listenFor(t, says(STATUS));
    chownSync(folder, 4242, 4242);
    assert.match((await cli('gateway', 'stop')).stderr, /\buid 4242\b/);
    chownSync(folder, OWN, OWN);
    chownSync(socket, 4242, 4242);
    assert.match((await cli('gateway', 'status')).stderr, /c\.sock\b.*\buid 4242\b/);
    assert.equal(asked(), 0);
  });

  it('does not follow a folder that is a link', async (t) => {
    const { folder, cli, asked } = await listenFor(t, says(STATUS));
    renameSync(folder, `${folder}-moved`);
    symlinkSync(`${folder}-moved`, folder);
    const { code, stderr } = await cli('gateway', 'status');
    assert.match(stderr, /^error: /);
    assert.deepEqual([code, asked()], [1, 0]);
  });

  const odd: readonly [string, Answer][] = [
    ['no JSON', says('<html>')],
    ['nothing', says('')],
    ['null', says('null')],
    ['a list', says([])],
    ['a text', says('"x"')],
    ['half of what is expected', says({ ...STATUS, subscriptions: null })],
    ['an entry of another kind', says({ ...STATUS, subscriptions: { ...STATUS.subscriptions, quarantined: [null] } })],
    ['a refusal without words', says('null', 400)],
    ['an error that is not an object', says('"oops"', 500)],
    ['a page for browsers', says('<html>', 404)],
    ['an end in the middle', (_request, response) => void response.writeHead(200, { 'content-length': '9' }).end('{')],
    ['a dropped connection', (_request, response) => void response.destroy()],
  ];
  for (const [what, answer] of odd) {
    it(`reports an answer that is ${what} without a crash`, async (t) => {
      const { cli } = await listenFor(t, answer, false);
      const { code, stderr } = await cli('gateway', 'status');
      assert.equal(code, 1);
      assert.match(stderr, /^error: /);
      assert.doesNotMatch(stderr, /bug|\n {4}at /);
    });
  }

  it('shows no control characters of an answer', async (t) => {
    const refused = await listenFor(t, says({ code: 'x', message: '\u001b[2Jgone' }, 400), false);
    assert.match((await refused.cli('gateway', 'status')).stderr, /\\u001b\[2Jgone/);
    const status = await listenFor(t, says({ ...STATUS, version: '\u001b[2J', url: '\u0007' }), false);
    assert.ok(!(await status.cli('gateway', 'status')).stdout.includes('\u001b'));
  });

  it('times out on a slow answer', async (t) => {
    const { socket } = await listenFor(t, (_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(timer));
    });
    await assert.rejects(callControl(socket, 'status', {}, 300), /\b0\.3 s\b/);
  });

  it('reports an answer that is not HTTP', async (t) => {
    const home = tempDir(t);
    const { socket, folder } = controlPaths(home, tmpdir());
    mkdirSync(folder, { mode: 0o700 });
    const server = createNetServer((connection) => void connection.on('error', () => {}).end('SSH-2.0-x\r\n'));
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    t.after(() => server.close());
    const { code, stderr } = await runInProcess(['gateway', 'status'], { home });
    assert.match(stderr, /^error: /);
    assert.equal(code, 1);
  });
});
