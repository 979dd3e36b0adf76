import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { callControl, controlPaths, NotRunningError } from '../../../runtime/control/control-client.ts';
import { ControlError } from '../../../runtime/control/control-error.ts';
import { serveControl } from '../../../runtime/control/control-server.ts';
import type { ControlHandlers } from '../../../runtime/control/operations.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

const handlers: ControlHandlers = {
  stop: ({ drain_seconds }) => ({ drained: true, abandoned: drain_seconds ?? 0 }),
  reload: () => {
    throw new ControlError('no_config', 'nothing to reload');
  },
  status: () => {
    throw new TypeError('a bug');
  },
  metrics: () => ({ content_type: 'text/plain; version=0.0.4', text: 'up 1\n' }),
};

async function serving(t: Parameters<typeof tempDir>[0]): Promise<string> {
  const { socket } = controlPaths(tempDir(t), tmpdir());
  const server = await serveControl(socket, handlers, silent);
  t.after(() => server.close());
  return socket;
}

test('an operation returns its result over a socket that only its owner may open', async (t) => {
  const socket = await serving(t);
  assert.equal(statSync(socket).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(socket)).mode & 0o777, 0o700);
  assert.deepEqual(await callControl(socket, 'stop', { drain_seconds: 3 }, 1000), { drained: true, abandoned: 3 });
});

test('an error arrives with its code, an internal error without its text', async (t) => {
  const socket = await serving(t);
  await assert.rejects(callControl(socket, 'reload', {}, 1000), { name: 'ControlError', code: 'no_config' });
  await assert.rejects(callControl(socket, 'status', {}, 1000), { code: 'failed' });
});

test('metrics can be scraped over plain HTTP; unknown operations and invalid bodies are rejected', async (t) => {
  const socket = await serving(t);
  assert.deepEqual(await get(socket, 'GET', '/metrics'), [200, 'up 1\n']);
  assert.equal((await get(socket, 'POST', '/toString'))[0], 400);
  assert.equal((await get(socket, 'POST', '/stop', '[1'))[0], 400);
  assert.equal((await get(socket, 'POST', '/stop', '"x"'))[0], 400);
});

const ACCEPT = { kind: 'accept', max_concurrent: null, claim: null, claiming: 'now', work: { kind: 'run' }, now: 1 };

const wrong: readonly (readonly [operation: string, input: unknown, at: string])[] = [
  ['stop', { drain_seconds: '3' }, 'request.drain_seconds'],
  ['stop', { drain_seconds: -1 }, 'request.drain_seconds'],
  ['reload', { fail_on: 'lost' }, 'request.fail_on'],
  ['reload', { fail_on: ['lots'] }, 'request.fail_on[0]'],
  ['enroll', { profile: 1, route: 'x', key: 'x' }, 'request.profile'],
  ['enroll', { profile: 'x', route: 'x', key: 'x', confirm: 1 }, 'request.confirm'],
  ['requests_load', {}, 'request.id'],
  ['requests_list', { filter: { since: 'x' }, page: { limit: 1 } }, 'request.filter.since'],
  ['requests_list', { filter: null, page: { limit: 1 } }, 'request.filter'],
  ['requests_replay', { id: ['x'] }, 'request.id'],
  ['create_blueprint_job', { key: 'x', values: { at: 1 } }, 'request.values.at'],
  ['store_read', { kind: 'toString' }, 'request.kind'],
  ['store_read', { kind: 'list', filter: { limit: 'x' } }, 'request.filter.limit'],
  ['store_read', { kind: 'list' }, 'request.filter'],
  ['store_write', { kind: 'advance' }, 'request.kind'],
  ['store_write', { kind: 'remove_job', id: {} }, 'request.id'],
  ['store_write', { kind: 'watch_job', job: 'x', signature: 'x', now: 1e308 }, 'request.now'],
  ['store_write', { ...ACCEPT, dispatch: { id: 'x' } }, 'request.dispatch.mode'],
  ['store_write', { ...ACCEPT, dispatch: makeDispatch('x'), claim: { profile: 'x' } }, 'request.claim.route'],
  ['store_write', { ...ACCEPT, dispatch: makeDispatch('x'), work: { kind: 'walk' } }, 'request.work.kind'],
  ['requests_load', { id: 'x', ids: ['y'] }, 'request.ids'],
];

test('wrong types are rejected by name, before the operation runs', async (t) => {
  const called: string[] = [];
  const every = Object.fromEntries(
    wrong.map(([name]) => [name, () => called.push(name)]),
  ) as unknown as ControlHandlers;
  const { socket } = controlPaths(tempDir(t), tmpdir());
  const server = await serveControl(socket, every, silent);
  t.after(() => server.close());
  for (const [operation, input, at] of wrong) {
    const [status, text] = await get(socket, 'POST', `/${operation}`, JSON.stringify(input));
    assert.equal(status, 400, operation);
    assert.deepEqual(JSON.parse(text).code, 'malformed');
    assert.ok(JSON.parse(text).message.startsWith(`${at} `), text);
  }
  assert.equal((await get(socket, 'POST', '/stop', '[]'))[0], 400);
  assert.deepEqual(called, []);
});

test('a client that disconnects during its request causes no error', async (t) => {
  const errors: string[] = [];
  const { socket } = controlPaths(tempDir(t), tmpdir());
  const server = await serveControl(socket, handlers, {
    ...silent,
    error: (_fields, message) => void errors.push(message),
  });
  t.after(() => server.close());
  const leaving = connect(socket);
  leaving.write('POST /stop HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{');
  await get(socket, 'GET', '/metrics');
  leaving.destroy();
  await once(leaving, 'close');
  await get(socket, 'GET', '/metrics');
  assert.deepEqual(errors, []);
});

test('connections without a request make room for others, and are closed after a second', async (t) => {
  const socket = await serving(t);
  const idle = Array.from({ length: 300 }, (_, index) =>
    connect(socket, function (this: Socket) {
      if (index % 2 === 0) this.write('POST /stop HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{');
    }).on('error', () => {}),
  );
  t.after(() => {
    for (const each of idle) each.destroy();
  });
  const gone = Promise.all(idle.map((each) => once(each.resume(), 'close')));
  assert.equal((await get(socket, 'GET', '/metrics'))[0], 200);
  await gone;
});

test('without a listener the client reports "not running", whatever is at the path', async (t) => {
  const home = tempDir(t);
  const { socket, folder } = controlPaths(home, tmpdir());
  await assert.rejects(callControl(socket, 'status', {}, 1000), NotRunningError);
  mkdirSync(folder);
  writeFileSync(socket, 'not a socket');
  await assert.rejects(callControl(socket, 'status', {}, 1000), NotRunningError);
});

test('a socket left over by a killed process is replaced', async (t) => {
  const { socket, folder } = controlPaths(tempDir(t), tmpdir());
  mkdirSync(folder);
  const listen = `require('net').createServer().listen(${JSON.stringify(socket)}, () => console.log('up'))`;
  const child = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.ok(statSync(socket).isSocket());
  await assert.rejects(callControl(socket, 'status', {}, 1000), NotRunningError);
  const server = await serveControl(socket, handlers, silent);
  t.after(() => server.close());
  assert.equal((await callControl(socket, 'stop', {}, 1000)).drained, true);
});

test('a home with a path too long for a socket always gets the same other path', (t) => {
  const deep = join(tempDir(t), 'x'.repeat(120));
  const { socket } = controlPaths(deep, '/tmp');
  assert.ok(socket.startsWith('/tmp/hookwright-') && socket.length < 104, socket);
  assert.equal(controlPaths(deep, '/tmp').socket, socket);
});

function get(socketPath: string, method: string, path: string, body = ''): Promise<[number | undefined, string]> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, method, path, agent: false }, async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      resolve([response.statusCode, text]);
    });
    call.once('error', reject);
    call.end(body);
  });
}

test('a call that was closed before it was sent is repeated', async (t) => {
  const { socket } = controlPaths(tempDir(t), tmpdir());
  mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
  let cut = 0;
  let calls = 0;
  // Closes the first two like a busy gateway, and accepts the third.
  const server = createServer((connection) => {
    if (cut++ < 2) {
      connection.destroy();
      return;
    }
    connection.once('data', () => {
      calls++;
      connection.end(
        'HTTP/1.1 200 OK\r\ncontent-length: 32\r\n\r\n{"drained":true,"abandoned":000}'.replace('000', '  7'),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  t.after(() => server.close());
  const large = { drain_seconds: 1, ballast: 'x'.repeat(8_000_000) };
  assert.deepEqual(await callControl(socket, 'stop', large, 5000), { drained: true, abandoned: 7 });
  assert.equal(calls, 1);
});
