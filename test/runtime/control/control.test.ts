import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { callControl, NotRunningError } from '../../../runtime/control/control-client.ts';
import { ControlError } from '../../../runtime/control/control-error.ts';
import { controlPaths } from '../../../runtime/control/control-path.ts';
import { serveControl } from '../../../runtime/control/control-server.ts';
import type { ControlHandlers } from '../../../runtime/control/operations.ts';
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

test('an operation answers its result over a socket that only its owner may open', async (t) => {
  const socket = await serving(t);
  assert.equal(statSync(socket).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(socket)).mode & 0o777, 0o700);
  assert.deepEqual(await callControl(socket, 'stop', { drain_seconds: 3 }, 1000), { drained: true, abandoned: 3 });
});

test('a refusal arrives with its code, a bug with its message only', async (t) => {
  const socket = await serving(t);
  await assert.rejects(callControl(socket, 'reload', {}, 1000), { name: 'ControlError', code: 'no_config' });
  await assert.rejects(callControl(socket, 'status', {}, 1000), { code: 'failed', message: 'a bug' });
});

test('metrics can be scraped with plain HTTP; unknown operations and odd bodies are refused', async (t) => {
  const socket = await serving(t);
  assert.deepEqual(await get(socket, 'GET', '/metrics'), [200, 'up 1\n']);
  assert.equal((await get(socket, 'POST', '/toString'))[0], 400);
  assert.equal((await get(socket, 'POST', '/stop', '[1'))[0], 400);
  assert.equal((await get(socket, 'POST', '/stop', '"x"'))[0], 400);
});

test('nobody there: the client says not running, whatever lies at the path', async (t) => {
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

test('a home too deep for a socket path gets one elsewhere, the same each time', (t) => {
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
