import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { CliError } from '../../../../cli/base/errors.ts';
import type { ServiceMachine } from '../../../../modules/setup/cli/service/machine.ts';
import type { InstallRequest } from '../../../../modules/setup/cli/service/plan-install.ts';
import { planInstall } from '../../../../modules/setup/cli/service/plan-install.ts';
import { runInstall } from '../../../../modules/setup/cli/service/run-install.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { runInProcess, SELF } from '../../../helpers/cli.ts';
import { until } from '../../../helpers/gateway.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const PROGRAM = ['/usr/bin/node', '/usr/lib/node_modules/hookwright/dist/cli/main.js'];
const REQUEST: InstallRequest = {
  scope: 'user',
  program: PROGRAM,
  config: '/home/jo/my hooks/100%/hookwright.yaml',
  failOn: ['lost'],
  home: '/home/jo/.hookwright',
  userHome: '/home/jo',
  userName: 'jo',
  path: '/home/jo/bin:/usr/bin',
};

/** A machine that records what is done to it. */
function fakeMachine(parts: Partial<ServiceMachine> & { readonly files?: Record<string, string> } = {}) {
  const files: Record<string, string> = { [REQUEST.config ?? '']: 'platforms: {}', ...parts.files };
  const ran: string[] = [];
  const machine: ServiceMachine = {
    isRoot: false,
    userName: 'jo',
    hasSystemd: true,
    read: (path) => files[path] ?? null,
    write: (path, text) => {
      files[path] = text;
    },
    run: (argv) => {
      ran.push(argv.join(' '));
      return null;
    },
    ...parts,
  };
  return { machine, files, ran };
}

const UNIT = '/home/jo/.config/systemd/user/hookwright.service';
const target = (notes: string[] = []) => ({
  scope: REQUEST.scope,
  config: REQUEST.config ?? '',
  note: (line: string) => void notes.push(line),
});
const refusal = (part: RegExp) => (error: CliError) => part.test([error.message, ...error.hints].join('\n'));

describe('gateway install-service', () => {
  test('writes the unit of a user, starts it now and at boot, and says each step before', () => {
    const { machine, files, ran } = fakeMachine();
    const notes: string[] = [];
    runInstall(machine, planInstall(REQUEST), target(notes));
    assert.match(
      files[UNIT] ?? '',
      /^ExecStart=.* gateway run --config "\/home\/jo\/my hooks\/100%%\/hookwright.yaml" --fail-on lost$/m,
    );
    assert.match(files[UNIT] ?? '', /^Environment="PATH=\/home\/jo\/bin:\/usr\/bin"$/m);
    assert.deepEqual(ran, [
      'systemctl --user daemon-reload',
      'systemctl --user enable hookwright.service',
      'systemctl --user restart hookwright.service',
      'loginctl enable-linger jo',
    ]);
    assert.equal(notes[0], `write ${UNIT}`);
    assert.equal(notes.length, 1 + ran.length + 1);
    runInstall(machine, planInstall(REQUEST), target());
  });

  test('does nothing without systemd, without a configuration, or over a unit of somebody else', () => {
    for (const [parts, part] of [
      [{ hasSystemd: false }, /gateway run --config/],
      [{ files: { [REQUEST.config ?? '']: undefined } }, /hookwright init/],
      [{ files: { [UNIT]: '[Unit]\n' } }, /not written by this command/],
    ] as const) {
      const { machine, ran } = fakeMachine(parts as Parameters<typeof fakeMachine>[0]);
      assert.throws(() => runInstall(machine, planInstall(REQUEST), target()), refusal(part));
      assert.deepEqual(ran, []);
    }
  });

  test('asks for root where it takes root, and for a program that a service can see', () => {
    const { machine } = fakeMachine();
    const system = planInstall({ ...REQUEST, scope: 'system', config: null });
    assert.throws(() => runInstall(machine, system, { ...target(), scope: 'system' }), refusal(/sudo hookwright/));
    const hidden = { ...REQUEST, scope: 'system', program: ['/home/jo/.nvm/node', 'main.js'] } as const;
    assert.throws(() => planInstall(hidden), refusal(/for all users/));
  });

  test('stops at the step that fails, and says which', () => {
    const { machine } = fakeMachine({ run: ([program]) => (program === 'systemctl' ? 'exit 1' : null) });
    assert.throws(
      () => runInstall(machine, planInstall(REQUEST), target()),
      refusal(/systemctl --user daemon-reload: exit 1/),
    );
  });
});

/** Skipped where the program is not there; a failure in CI, which installs it. */
function needs(program: string, flag: string): boolean {
  const isThere = spawnSync(program, [flag]).error === undefined;
  if (!isThere) console.error(`SKIPPED: ${program} is not here; the systemd unit was not tried with it`);
  return isThere || process.env.CI === 'true';
}

const systemUnit = async (home: string): Promise<string> => {
  const { stdout } = await runInProcess(['gateway', 'install-service', '--system', '--dry-run'], { home });
  return stdout;
};

test('systemd reads the unit without a complaint, and finds it exposed 2.0 at most', {
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
test('every system call of a gateway that runs an agent is one that the unit allows', {
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
  // SQLite makes it only as root, which the service is not.
  const asRoot = process.getuid?.() === 0 ? ['fchown'] : [];
  assert.deepEqual(
    made.filter((name) => !['total', ...asRoot].includes(name) && !allowed.has(name)),
    [],
  );
});

/** The system calls of one of systemd's sets, and of the sets inside it. */
function callsOf(set: string): string[] {
  const { stdout } = spawnSync('systemd-analyze', ['--no-pager', 'syscall-filter', set], { encoding: 'utf8' });
  const lines = stdout.split('\n').map((line) => line.trim());
  const entries = lines.slice(1).filter((line) => /^@?\w/.test(line));
  return entries.flatMap((entry) => (entry.startsWith('@') ? callsOf(entry) : [entry]));
}
