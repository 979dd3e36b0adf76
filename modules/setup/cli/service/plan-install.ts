/** Plans and performs the installation of a systemd unit, step by step, so that it can be shown before anything is touched. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError } from '../../../../cli/base/errors.ts';
import { writeAtomic } from '../../../../runtime/platform/files.ts';
import LIMITS from './unit-limits.json' with { type: 'json' };

/** What installing a service takes, step by step: planned without touching anything, so that it can be shown before it is done. */
export type InstallStep =
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'run'; readonly argv: readonly string[]; readonly why: string };

export interface InstallRequest {
  readonly scope: 'system' | 'user';
  /** The command that starts this program: absolute paths. */
  readonly program: readonly string[];
  /** Absolute. null: the usual place of the scope. */
  readonly config: string | null;
  /** Which differences make the gateway refuse a changed configuration. */
  readonly failOn: readonly string[];
  /** `<home_dir>` of a user's service, absolute. */
  readonly home: string;
  /** `HOME`, `USER` and `PATH` of the installing user: where the agents of its unit are found. */
  readonly userHome: string;
  readonly userName: string;
  readonly path: string;
}

const SERVICE = 'hookwright.service';
const SERVICE_USER = 'hookwright';
const STATE = '/var/lib/hookwright';
const SYSTEM_FOLDER = '/etc/hookwright';

export const systemConfig = (): string => join(SYSTEM_FOLDER, 'hookwright.yaml');

export function planInstall(request: InstallRequest): readonly InstallStep[] {
  return request.scope === 'system' ? planSystem(request) : planUser(request);
}

function planSystem({ program, config, failOn, path }: InstallRequest): readonly InstallStep[] {
  const hidden = program.find((word) => /^\/(home|root|run\/user)\//.test(word));
  if (hidden !== undefined) {
    throw new CliError(
      `${hidden} lies in a home folder, which a system service does not see`,
      'install Node.js and hookwright for all users, or leave out --system for a service of your own',
    );
  }
  const used = config ?? systemConfig();
  const unit: ServiceUnit = { program, config: used, failOn, home: STATE, user: SERVICE_USER, path };
  const account = ['useradd', '--system', '--user-group', '--home-dir', STATE, '--shell', '/usr/sbin/nologin'];
  return [
    run(
      'a user of its own, unless there is one',
      'sh',
      '-c',
      `id -u ${SERVICE_USER} >/dev/null 2>&1 || ${account.join(' ')} ${SERVICE_USER}`,
    ),
    ...(dirname(used) === SYSTEM_FOLDER
      ? [
          run('it may read the configuration and the secrets beside it', 'chgrp', '-R', SERVICE_USER, SYSTEM_FOLDER),
          run('and nobody else', 'chmod', '-R', 'g+rX,o=', SYSTEM_FOLDER),
        ]
      : []),
    { kind: 'write', path: join('/etc/systemd/system', SERVICE), text: printUnit(unit) },
    ...start('systemctl'),
  ];
}

function planUser({ program, config, failOn, home, userHome, userName, path }: InstallRequest): readonly InstallStep[] {
  if (config === null) throw new Error('a service of a user needs a configuration');
  const unit: ServiceUnit = { program, config, failOn, home, user: null, path };
  return [
    { kind: 'write', path: join(userHome, '.config/systemd/user', SERVICE), text: printUnit(unit) },
    ...start('systemctl', '--user'),
    run('it runs from boot on, not only while you are logged in', 'loginctl', 'enable-linger', userName),
  ];
}

const start = (...systemctl: readonly string[]): readonly InstallStep[] => [
  run('the service manager reads the unit', ...systemctl, 'daemon-reload'),
  run('it starts at boot', ...systemctl, 'enable', SERVICE),
  run('it starts now', ...systemctl, 'restart', SERVICE),
];

const run = (why: string, ...argv: readonly string[]): InstallStep => ({ kind: 'run', argv, why });

/** Prints the systemd unit that runs a gateway: for the whole machine with everything closed that it does not need, or for one user. */
interface ServiceUnit extends Pick<InstallRequest, 'program' | 'failOn' | 'home' | 'path'> {
  readonly config: string;
  /** A system unit runs as this user. null: the unit of the user who installs it. */
  readonly user: string | null;
}

const MARK = '# Written by `hookwright gateway install-service`. Change it with `systemctl edit`.';

/**
 * A user's unit has the limits that its service manager can set without namespaces, which many systems keep from users. None
 * has `MemoryDenyWriteExecute`: V8 compiles to memory that it executes.
 */
function printUnit(unit: ServiceUnit): string {
  const { program, config, failOn, home, user } = unit;
  const out = user === null ? [] : ['--out', `${home}/build`];
  const gate = failOn.length === 0 ? [] : ['--fail-on', failOn.join(',')];
  const sections = [
    MARK,
    '[Unit]',
    'Description=hookwright webhook gateway',
    'After=network-online.target',
    'Wants=network-online.target',
    '',
    '[Service]',
    'Type=exec',
    `WorkingDirectory=${dirname(config).replaceAll('%', '%%')}`,
    ...(user === null ? [environment('PATH', unit.path)] : [`User=${user}`]),
    environment('HOOKWRIGHT_HOME', home),
    `ExecStart=${[...program, 'gateway', 'run', '--config', config, ...out, ...gate].map(quote).join(' ')}`,
    'ExecReload=kill -HUP $MAINPID',
    'Restart=on-failure',
    'RestartSec=2',
    '# The gateway ends its agents itself, after gateway.drain_seconds (30) at the latest.',
    'KillMode=mixed',
    'TimeoutStopSec=60',
    'UMask=0077',
    ...(user === null ? LIMITS.user : LIMITS.system),
    '',
    '[Install]',
    `WantedBy=${user === null ? 'default' : 'multi-user'}.target`,
  ];
  return `${sections.join('\n')}\n`;
}

/** A word of a command line, as systemd.service(5) reads it. */
function quote(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./$-]+$/.test(word) ? escaped : `"${escaped.replace(/["\\]/g, '\\$&')}"`;
}

const environment = (name: string, value: string): string =>
  `Environment="${name}=${value.replaceAll('%', '%%').replace(/["\\]/g, '\\$&')}"`;

/** Performs the planned steps in order, and prints each one before it is done. */
interface InstallTarget {
  readonly scope: 'system' | 'user';
  /** Absolute. */
  readonly config: string;
  readonly note: (line: string) => void;
}

/** @throws CliError when nothing may be done, or a step fails */
export function runInstall(
  machine: ServiceMachine,
  steps: readonly InstallStep[],
  { scope, config, note }: InstallTarget,
): void {
  refuseMachine(machine, scope);
  if (machine.read(config) === null) {
    throw new CliError(
      `there is no ${config}`,
      'write it first: hookwright init /etc/hookwright',
      'or name another: --config <path>',
    );
  }
  for (const step of steps) refuseForeign(machine, step);
  for (const step of steps) {
    note(describeStep(step));
    if (step.kind === 'write') machine.write(step.path, step.text);
    else runStep(machine, step.argv);
  }
  const flag = scope === 'user' ? '--user ' : '';
  note(`installed; look at it: systemctl ${flag}status ${SERVICE}, journalctl ${flag}-u ${SERVICE} -f`);
}

function refuseMachine({ hasSystemd, isRoot }: ServiceMachine, scope: InstallTarget['scope']): void {
  if (!hasSystemd) {
    throw new CliError(
      'systemd does not run this machine; nothing was done',
      'let your service manager run: hookwright gateway run --config <path>',
      'in the background, until the next boot: hookwright gateway start',
      'the unit for another machine: add --dry-run',
    );
  }
  if (scope === 'system' && !isRoot) {
    throw new CliError(
      'a service for the machine is installed by root',
      'sudo hookwright gateway install-service --system',
    );
  }
}

/** A unit written by hand is left alone. */
function refuseForeign(machine: ServiceMachine, step: InstallStep): void {
  if (step.kind !== 'write') return;
  const there = machine.read(step.path);
  if (there === null || there.startsWith(MARK)) return;
  throw new CliError(
    `${step.path} was not written by this command; nothing was done`,
    'compare it with what --dry-run prints, and move it away',
  );
}

function runStep(machine: ServiceMachine, argv: readonly string[]): void {
  const problem = machine.run(argv);
  if (problem === null) return;
  throw new CliError(
    `${argv.join(' ')}: ${problem}`,
    'the steps before it are done; run this command again once that is repaired',
  );
}

/** A line that shows a step as it could be typed. */
export function describeStep(step: InstallStep): string {
  if (step.kind === 'write') return `write ${step.path}`;
  return `run   ${step.argv.map(shown).join(' ')}  # ${step.why}`;
}

const shown = (word: string): string => (/[\s|>]/.test(word) ? `'${word}'` : word);

/** What installing a service needs of the machine; a test has another one. */
export interface ServiceMachine {
  readonly isRoot: boolean;
  readonly userName: string;
  /** Whether this machine was booted with systemd, as in sd_booted(3). */
  readonly hasSystemd: boolean;
  /** null: there is no such file. */
  readonly read: (path: string) => string | null;
  readonly write: (path: string, text: string) => void;
  /** Runs a program on the terminal of this one. @returns what went wrong, null when nothing did */
  readonly run: (argv: readonly string[]) => string | null;
}

export function thisMachine(env: NodeJS.ProcessEnv): ServiceMachine {
  const { uid, username } = userInfo();
  return {
    isRoot: uid === 0,
    userName: username,
    hasSystemd: existsSync('/run/systemd/system'),
    read: (path) => (existsSync(path) ? readFileSync(path, 'utf8') : null),
    write: (path, text) => {
      mkdirSync(dirname(path), { recursive: true });
      writeAtomic(path, text, 0o644);
    },
    run: ([program = '', ...args]) => {
      const { error, status, signal } = spawnSync(program, args, { env, stdio: 'inherit' });
      if (error !== undefined) return error.message;
      return status === 0 ? null : `exit ${signal ?? status}`;
    },
  };
}
