/** Plans and runs the steps that install a systemd unit, so that they can be shown before anything changes. */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { CliError } from '../../../../cli/base/errors.ts';
import { writeAtomic } from '../../../../runtime/platform/files.ts';
import LIMITS from './unit-limits.json' with { type: 'json' };

/** A step of the installation. */
export type InstallStep =
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'run'; readonly argv: readonly string[]; readonly why: string };

export interface InstallRequest {
  readonly scope: 'system' | 'user';
  /** The command that starts this program, with absolute paths. */
  readonly program: readonly string[];
  /** Absolute; null for the default path of the scope. */
  readonly config: string | null;
  /** The differences for which the gateway rejects a changed configuration. */
  readonly failOn: readonly string[];
  /** `<home_dir>`, absolute; null: the usual one of the scope. */
  readonly home: string | null;
  /** The text of an installed unit; null if there is none. */
  readonly installed: (path: string) => string | null;
  /** `HOME`, `USER` and `PATH` of the installing user, with which the unit finds its agents. */
  readonly userHome: string;
  readonly userName: string;
  readonly path: string;
}

const SERVICE = 'hookwright';
const SERVICE_USER = 'hookwright';
const STATE = '/var/lib/hookwright';
const SYSTEM_FOLDER = '/etc/hookwright';

/** Whether systemd creates it for a service. */
export const isServiceHome = (home: string): boolean => dirname(home) === dirname(STATE);

export const systemConfig = (): string => join(SYSTEM_FOLDER, 'hookwright.yaml');

/** The name of the unit: each home has its own. A unit for this home that has the usual name keeps it. */
export function unitName({ home, installed }: Pick<InstallRequest, 'home' | 'installed'>, folder: string): string {
  const usual = `${SERVICE}.service`;
  if (home === null || installed(join(folder, usual))?.includes(environment('HOOKWRIGHT_HOME', home))) return usual;
  const project = basename(dirname(home)).replace(/[^A-Za-z0-9_-]+/g, '-');
  return `${SERVICE}-${project}-${createHash('sha256').update(home).digest('hex').slice(0, DIGEST)}.service`;
}

/** Digits that tell homes of projects with the same name apart. */
const DIGEST = 6;

export const unitFolder = ({ scope, userHome }: Pick<InstallRequest, 'scope' | 'userHome'>): string =>
  scope === 'system' ? '/etc/systemd/system' : join(userHome, '.config/systemd/user');

export function planInstall(request: InstallRequest): readonly InstallStep[] {
  return request.scope === 'system' ? planSystem(request) : planUser(request);
}

function planSystem(request: InstallRequest): readonly InstallStep[] {
  const { program, config, failOn, path } = request;
  const home = request.home ?? STATE;
  if (!isServiceHome(home))
    throw new CliError(
      `a system service cannot use the home ${home}`,
      `set \`home: ${dirname(STATE)}/<name>\`: systemd creates it`,
    );
  const hidden = program.find((word) => /^\/(home|root|run\/user)\//.test(word));
  if (hidden !== undefined) {
    throw new CliError(
      `${hidden} is in a home folder, which a system service cannot read`,
      'install Node.js and hookwright for all users, or install a user service without --system',
    );
  }
  const used = config ?? systemConfig();
  const unit: ServiceUnit = { program, config: used, failOn, home, user: SERVICE_USER, path };
  const service = join(unitFolder(request), unitName(request, unitFolder(request)));
  const account = ['useradd', '--system', '--user-group', '--home-dir', STATE, '--shell', '/usr/sbin/nologin'];
  return [
    run(
      'create a separate user if it does not exist',
      'sh',
      '-c',
      `id -u ${SERVICE_USER} >/dev/null 2>&1 || ${account.join(' ')} ${SERVICE_USER}`,
    ),
    ...(dirname(used) === SYSTEM_FOLDER
      ? [
          run(
            'let the service user read the configuration and its secrets',
            'chgrp',
            '-R',
            SERVICE_USER,
            SYSTEM_FOLDER,
          ),
          run('let no other user read them', 'chmod', '-R', 'g+rX,o=', SYSTEM_FOLDER),
        ]
      : []),
    { kind: 'write', path: service, text: printUnit(unit) },
    ...start(basename(service), 'systemctl'),
  ];
}

function planUser(request: InstallRequest): readonly InstallStep[] {
  const { program, config, failOn, userHome, userName, path } = request;
  const home = request.home ?? join(userHome, '.hookwright');
  if (config === null)
    throw new Error('no configuration found: create one with hookwright init before you install a user service');
  const unit: ServiceUnit = { program, config, failOn, home, user: null, path };
  const service = join(unitFolder(request), unitName(request, unitFolder(request)));
  return [
    { kind: 'write', path: service, text: printUnit(unit) },
    ...start(basename(service), 'systemctl', '--user'),
    run('keep it running while you are logged out', 'loginctl', 'enable-linger', userName),
  ];
}

const start = (service: string, ...systemctl: readonly string[]): readonly InstallStep[] => [
  run('load the unit', ...systemctl, 'daemon-reload'),
  run('start it at boot', ...systemctl, 'enable', service),
  run('start it now', ...systemctl, 'restart', service),
];

const run = (why: string, ...argv: readonly string[]): InstallStep => ({ kind: 'run', argv, why });

/** A systemd unit for a gateway: for the machine with minimal rights, or for one user. */
interface ServiceUnit extends Pick<InstallRequest, 'program' | 'failOn' | 'path'> {
  readonly home: string;
  readonly config: string;
  /** The user of a system unit; null for a unit of the installing user. */
  readonly user: string | null;
}

const MARK = '# Written by `hookwright gateway install-service`. Change it with `systemctl edit`.';

/**
 * A user unit has only limits that need no namespaces, because many systems do not allow them to users. No unit has
 * `MemoryDenyWriteExecute`, because V8 executes memory that it writes.
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
    '# The gateway ends its agents itself, at the latest after gateway.drain_seconds (30).',
    'KillMode=mixed',
    'TimeoutStopSec=60',
    'UMask=0077',
    ...(user === null ? LIMITS.user : [`StateDirectory=${basename(home)}`, ...LIMITS.system]),
    '',
    '[Install]',
    `WantedBy=${user === null ? 'default' : 'multi-user'}.target`,
  ];
  return `${sections.join('\n')}\n`;
}

/** Quotes a word for a command line of systemd.service(5). */
function quote(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./$-]+$/.test(word) ? escaped : `"${escaped.replace(/["\\]/g, '\\$&')}"`;
}

const environment = (name: string, value: string): string =>
  `Environment="${name}=${value.replaceAll('%', '%%').replace(/["\\]/g, '\\$&')}"`;

/** The installation that `runInstall` runs. */
interface InstallTarget {
  readonly scope: 'system' | 'user';
  /** Absolute. */
  readonly config: string;
  readonly note: (line: string) => void;
}

/** Runs the planned steps in order, and prints each one first. @throws CliError if a requirement is missing, or a step fails */
export function runInstall(
  machine: ServiceMachine,
  steps: readonly InstallStep[],
  { scope, config, note }: InstallTarget,
): void {
  refuseMachine(machine, scope);
  if (machine.read(config) === null) {
    throw new CliError(
      `there is no ${config}`,
      'create it first: hookwright init /etc/hookwright',
      'or choose another: --config <path>',
    );
  }
  for (const step of steps) refuseForeign(machine, step);
  for (const step of steps) {
    note(describeStep(step));
    if (step.kind === 'write') machine.write(step.path, step.text);
    else runStep(machine, step.argv);
  }
  const flag = scope === 'user' ? '--user ' : '';
  const unit = steps.find((step) => step.kind === 'write');
  const service = unit === undefined ? SERVICE : basename(unit.path);
  note(`installed; to see it: systemctl ${flag}status ${service}, journalctl ${flag}-u ${service} -f`);
}

function refuseMachine({ hasSystemd, isRoot }: ServiceMachine, scope: InstallTarget['scope']): void {
  if (!hasSystemd) {
    throw new CliError(
      'this machine does not use systemd; nothing was changed',
      'for another service manager: hookwright gateway run --config <path>',
      'in the background, until the next boot: hookwright gateway start',
      'to print the unit for another machine: --dry-run',
    );
  }
  if (scope === 'system' && !isRoot) {
    throw new CliError(
      'only root can install a service for the machine',
      'run it as root: sudo hookwright gateway install-service --system',
    );
  }
}

/** Rejects a unit that this command did not write. */
function refuseForeign(machine: ServiceMachine, step: InstallStep): void {
  if (step.kind !== 'write') return;
  const there = machine.read(step.path);
  if (there === null || there.startsWith(MARK)) return;
  throw new CliError(
    `${step.path} was not written by this command; nothing was changed`,
    'compare it with the output of --dry-run, and move it away',
  );
}

function runStep(machine: ServiceMachine, argv: readonly string[]): void {
  const problem = machine.run(argv);
  if (problem === null) return;
  throw new CliError(
    `${argv.join(' ')}: ${problem}`,
    'the steps before it are done; fix the problem and run this command again',
  );
}

/** A step as a line that could be typed. */
export function describeStep(step: InstallStep): string {
  if (step.kind === 'write') return `write ${step.path}`;
  return `run   ${step.argv.map(shown).join(' ')}  # ${step.why}`;
}

const shown = (word: string): string => (/[\s|>]/.test(word) ? `'${word}'` : word);

/** Access to the machine, which tests replace. */
export interface ServiceMachine {
  readonly isRoot: boolean;
  readonly userName: string;
  /** Whether this machine was booted with systemd, as in sd_booted(3). */
  readonly hasSystemd: boolean;
  /** Null if there is no such file. */
  readonly read: (path: string) => string | null;
  readonly write: (path: string, text: string) => void;
  /** Runs a program on this terminal. @returns the problem, or null */
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
