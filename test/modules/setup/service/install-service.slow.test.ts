/** systemd accepts and rates the unit, and its system call filter fits a running gateway. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { atEnd } from '../../../helpers/at-end.ts';
import { runInProcess, SELF } from '../../../helpers/cli.ts';
import { until } from '../../../helpers/gateway.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

/** Skipped without the program; a failure in CI, which installs it. */
function needs(program: string, flag: string): boolean {
  const isThere = spawnSync(program, [flag]).error === undefined;
  if (!isThere) console.error(`SKIPPED: ${program} is not here; the systemd unit was not tried with it`);
  return isThere || process.env.CI === 'true';
}

const systemUnit = async (home: string): Promise<string> => {
  const { stdout } = await runInProcess(['gateway', 'install-service', '--system', '--dry-run'], { home });
  return stdout;
};

test('systemd accepts the unit and rates its exposure at most 2.0', {
  skip: !needs('systemd-analyze', '--version'),
}, async (t) => {
  const dir = tempDir(t);
  const unit = join(dir, 'hookwright.service');
  writeFileSync(unit, await systemUnit(dir));
  const analyze = (...args: string[]) =>
    spawnSync('systemd-analyze', ['--no-pager', ...args, unit], { encoding: 'utf8' });
  const security = analyze('security', '--offline=yes', '--threshold=20');
  assert.equal(security.status, 0, security.stdout + security.stderr);
  const verify = analyze('verify');
  assert.equal(verify.status, 0, verify.stderr);
  assert.equal(verify.stderr, '');
});

const hasTools = needs('systemd-analyze', '--version') && needs('strace', '-V');
test('the unit allows every system call of a gateway that runs an agent', {
  skip: !hasTools,
}, async (t) => {
  const home = tempDir(t);
  const routes = 'routes: { hello: { prompt: "{name}" } }';
  const webhook = `webhook: { enabled: true, port: 0, secret: a-secret-for-strace-123456, ${routes} }`;
  writeFileSync(join(home, 'config.yaml'), `platforms: { ${webhook} }\nagent: { command: [cat] }\n`, { mode: 0o600 });
  const calls = join(home, 'calls');
  mkdirSync(join(home, 'work'));
  const env = { ...process.env, HOOKWRIGHT_HOME: home, WEBHOOK_SECRET: '' };
  const child = spawn('strace', ['-f', '-qq', '-c', '-o', calls, ...SELF, 'gateway', 'run'], { cwd: home, env });
  atEnd(t, () => child.kill('SIGKILL'));
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  await until(async () => {
    assert.equal(child.exitCode, null, log);
    return log.includes('"listening"');
  });
  const sent = await runInProcess(['webhook', 'test', 'hello', '--payload', '{"name":"Jo"}'], { home });
  assert.equal(sent.code, 0, sent.stdout + sent.stderr);
  await until(async () => log.includes('"text":"Jo"'));
  await runInProcess(['gateway', 'stop'], { home });
  await until(async () => child.exitCode !== null);

  const made = [...readFileSync(calls, 'utf8').matchAll(/^ *[\d.]+ +[\d.]+ .* (\w+)$/gm)].map(([, name]) => name ?? '');
  assert.ok(made.includes('execve') && made.length > 30, readFileSync(calls, 'utf8'));
  const allowed = new Set<string>();
  for (const [, not, sets = ''] of (await systemUnit(home)).matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
    for (const name of sets.split(' ').flatMap(callsOf)) not === '~' ? allowed.delete(name) : allowed.add(name);
  }
  // SQLite only makes this call as root, and the service does not run as root.
  const asRoot = process.getuid?.() === 0 ? ['fchown'] : [];
  assert.deepEqual(
    made.filter((name) => !['total', ...asRoot].includes(name) && !allowed.has(name)),
    [],
  );
});

/** The system calls of one of systemd's sets and its nested sets. */
function callsOf(set: string): string[] {
  const { stdout } = spawnSync('systemd-analyze', ['--no-pager', 'syscall-filter', set], { encoding: 'utf8' });
  const lines = stdout.split('\n').map((line) => line.trim());
  const entries = lines.slice(1).filter((line) => /^@?\w/.test(line));
  return entries.flatMap((entry) => (entry.startsWith('@') ? callsOf(entry) : [entry]));
}
