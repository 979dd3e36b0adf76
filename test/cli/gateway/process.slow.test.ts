import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { controlPaths } from '../../../runtime/control/control-client.ts';
import type { GatewayStatus } from '../../../schemas/built/operations/types.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { runInProcess, runProcess, startProcess } from '../../helpers/cli.ts';
import { until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    port: 0
    secret: a-secret-for-the-process-tests
    routes:
      hello: { prompt: "Hello {name}" }
`;

function furnished(t: Parameters<typeof tempDir>[0], config = CONFIG): string {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), config, { mode: 0o600 });
  return home;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function pidOf(home: string): Promise<number> {
  const { stdout } = await runInProcess(['gateway', 'status', '--json'], { home });
  return (JSON.parse(stdout) as GatewayStatus).pid;
}

test('start returns once the gateway serves in the background, and stop ends it', async (t) => {
  const home = furnished(t);
  const started = await runInProcess(['gateway', 'start'], { home });
  atEnd(t, () => runInProcess(['gateway', 'stop', '--drain', '0'], { home }));
  assert.equal(started.code, 0, started.stderr);
  assert.match(started.stdout, /^http:\/\/127\.0\.0\.1:\d+\n$/);
  const pid = await pidOf(home);
  assert.match(started.stderr, new RegExp(`^\\d\\d:\\d\\d:\\d\\d WARN .* profile=default\n.*${pid}`));
  const again = await runInProcess(['gateway', 'start'], { home });
  assert.equal(again.code, 1);
  assert.match(again.stderr, new RegExp(`pid ${pid}\\b`));
  assert.equal((await runInProcess(['webhook', 'test', 'hello', '--payload', '{"name":"Bo"}'], { home })).code, 0);
  const log = join(home, 'logs', 'gateway.log');
  await until(async () => readFileSync(log, 'utf8').includes('Hello Bo'));
  assert.equal(statSync(log).mode & 0o777, 0o600);
  assert.match((await runInProcess(['gateway', 'logs'], { home })).stdout, /"msg":"listening"/);
  const stopped = await runInProcess(['gateway', 'stop'], { home });
  assert.equal(stopped.code, 0, stopped.stderr);
  await until(async () => !isAlive(pid));
});

test('one of several concurrent starts wins, and the others exit 1 and name it', async (t) => {
  const home = furnished(t);
  atEnd(t, () => runInProcess(['gateway', 'stop', '--drain', '0'], { home }));
  const starts = await Promise.all([1, 2, 3].map(() => runInProcess(['gateway', 'start'], { home })));
  assert.deepEqual(starts.map(({ code }) => code).sort(), [0, 1, 1]);
  const pid = new RegExp(`pid ${await pidOf(home)}\\b`);
  for (const { stderr } of starts) assert.match(stderr, pid);
});

test('a failed start prints the reason and exits 1', async (t) => {
  const home = furnished(t, CONFIG.replace('a-secret-for-the-process-tests', 'env:NOT_SET'));
  const { code, stderr } = await runInProcess(['gateway', 'start'], { home });
  assert.equal(code, 1);
  assert.match(stderr, /^error: .*\n {2}[^{\n]*env:NOT_SET[^{]*$/);
  const broken = await runInProcess(['gateway', 'start', '--config', 'nowhere.yaml'], { home });
  assert.match(broken.stderr, /unreadable-file/);
  // Every line of the log is an entry.
  const logs = await runInProcess(['gateway', 'logs'], { home });
  const entries = logs.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: string });
  assert.equal(entries.filter(({ level }) => level === 'error').length, 2);
});

test('after kill -9 the next start succeeds, and stop ends no other process', async (t) => {
  const home = furnished(t);
  const child = startProcess(['gateway', 'run'], { home });
  atEnd(t, () => child.kill('SIGKILL'));
  await until(async () => pidOf(home).catch(() => null));
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.ok(existsSync(join(home, 'run', 'control.sock')));
  // The note of the killed gateway names a process id that another process has now: this one.
  const info = join(home, 'run', 'gateway.json');
  writeFileSync(info, readFileSync(info, 'utf8').replace(/"pid":\d+/, `"pid":${process.pid}`));
  for (const verb of ['status', 'stop', 'reload']) {
    assert.equal((await runInProcess(['gateway', verb], { home })).code, 1);
  }
  const next = startProcess(['gateway', 'run'], { home });
  atEnd(t, () => next.kill('SIGKILL'));
  await until(async () => pidOf(home).catch(() => null));
  next.kill('SIGTERM');
  const [code] = await once(next, 'exit');
  assert.equal(code, 0);
});

test('stop exits 1 if it interrupts work, which resumes after the next start', async (t) => {
  const agent = '\nagent: { command: [sh, -c, "cat; test -e done || sleep 60"], cwd: . }\n';
  const home = furnished(t, CONFIG + agent);
  const child = startProcess(['gateway', 'run'], { home });
  atEnd(t, () => child.kill('SIGKILL'));
  await until(async () => pidOf(home).catch(() => null));
  assert.equal((await runInProcess(['webhook', 'test', 'hello'], { home })).code, 0);
  const status = async (): Promise<GatewayStatus> =>
    JSON.parse((await runInProcess(['gateway', 'status', '--json'], { home })).stdout) as GatewayStatus;
  await until(async () => (await status()).runs?.active === 1);
  assert.equal((await runProcess(['gateway', 'stop', '--drain', '0.1'], { home })).code, 1);
  writeFileSync(join(home, 'done'), '');
  const next = startProcess(['gateway', 'run'], { home });
  atEnd(t, () => next.kill('SIGKILL'));
  let log = '';
  next.stderr?.on('data', (chunk) => {
    log += chunk;
  });
  await until(async () => /Hello \w/.test(log));
  next.kill('SIGINT');
  await once(next, 'exit');
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`a second ${signal} kills the process groups of agents before the gateway exits`, async (t) => {
    const agent = `\nagent: { command: [sh, -c, "sleep 600 & echo $$ $! > pids; wait"], cwd: . }\n`;
    const home = furnished(t, CONFIG + agent);
    const child = startProcess(['gateway', 'run'], { home });
    atEnd(t, () => child.kill('SIGKILL'));
    await until(async () => pidOf(home).catch(() => null));
    assert.equal((await runInProcess(['webhook', 'test', 'hello'], { home })).code, 0);
    const pids = await until(async () => {
      const text = existsSync(join(home, 'pids')) ? readFileSync(join(home, 'pids'), 'utf8').trim() : '';
      return text === '' ? null : text.split(' ').map(Number);
    });
    atEnd(t, () => {
      for (const pid of pids) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    assert.deepEqual(pids.map(isAlive), [true, true]);
    let log = '';
    child.stderr?.on('data', (chunk) => {
      log += chunk;
    });
    child.kill(signal);
    await until(async () => log.includes('stopping'));
    child.kill(signal);
    const [code] = await once(child, 'exit');
    assert.equal(code, 130);
    // A container may have no process that removes ended orphans.
    await setTimeout(500);
    const states = pids.map((pid) =>
      isAlive(pid) ? /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1] : 'Z',
    );
    assert.deepEqual(states, ['Z', 'Z']);
  });
}

test('restart stops and starts the gateway, also with errors unless --no-last-good is set', async (t) => {
  const home = furnished(t);
  atEnd(t, () => runInProcess(['gateway', 'stop', '--drain', '0'], { home }));
  const first = await runInProcess(['gateway', 'restart'], { home });
  assert.equal(first.code, 0, first.stderr);
  const pid = await pidOf(home);
  writeFileSync(join(home, 'config.yaml'), CONFIG.replace('prompt', 'promt'), { mode: 0o600 });
  const refused = await runInProcess(['gateway', 'restart', '--no-last-good'], { home });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /unknown-key/);
  assert.equal(await pidOf(home), pid);
  const kept = await runInProcess(['gateway', 'restart'], { home });
  assert.equal(kept.code, 0, kept.stderr);
  assert.match(kept.stderr, /unknown-key[\s\S]*config\.yaml:\d+:\d+: .*promt/);
  const second = await pidOf(home);
  assert.notEqual(second, pid);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const cwd = tempDir(t);
  writeFileSync(join(cwd, 'hookwright.yaml'), CONFIG, { mode: 0o600 });
  const elsewhere = await runInProcess(['gateway', 'restart'], { home, cwd });
  assert.equal(elsewhere.code, 1);
  assert.ok(elsewhere.stderr.includes(join(home, 'config.yaml')), elsewhere.stderr);
  assert.equal(await pidOf(home), second);
  const again = await runInProcess(['gateway', 'restart', '--drain', '1'], { home });
  assert.equal(again.code, 0, again.stderr);
  assert.notEqual(await pidOf(home), second);
  await until(async () => !isAlive(pid));
});

test('restart replaces a gateway of another version with unknown answers', async (t) => {
  const home = furnished(t, CONFIG.replace('prompt', 'promt'));
  const { folder, socket, info } = controlPaths(home, '/tmp');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(info, JSON.stringify({ pid: process.pid, url: '', log_file: null, config: join(home, 'config.yaml') }));
  const answers: Readonly<Record<string, object>> = {
    '/ping': { pid: process.pid },
    '/reload': { well: true },
    '/status': { running: 'yes' },
    '/store_read': { records: [], states: {} },
    '/stop': { drained: true, abandoned: 0 },
  };
  const other = createServer((request, response) => {
    const answer = answers[request.url ?? ''];
    response
      .writeHead(answer === undefined ? 404 : 200)
      .end(JSON.stringify(answer ?? { code: 'unknown_operation', message: 'x' }));
    if (request.url === '/stop') other.close();
  });
  other.listen(socket);
  await once(other, 'listening');
  atEnd(t, () => runInProcess(['gateway', 'stop', '--drain', '0'], { home }));
  const status = await runInProcess(['gateway', 'status'], { home });
  assert.match(status.stderr, /\n.*hookwright gateway restart\n$/);
  const refused = await runInProcess(['gateway', 'restart'], { home });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /unknown-key/);
  assert.ok(other.listening);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const { code, stderr } = await runInProcess(['gateway', 'restart'], { home });
  assert.equal(code, 0, stderr);
  assert.ok(!other.listening);
  assert.notEqual(await pidOf(home), process.pid);
});
