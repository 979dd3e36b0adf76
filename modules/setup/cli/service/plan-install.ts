/** What installing a service takes, step by step: planned without touching anything, so that it can be shown before it is done. */
import { dirname, join } from 'node:path';
import { CliError } from '../../../../cli/base/errors.ts';
import type { ServiceUnit } from './print-unit.ts';
import { printUnit } from './print-unit.ts';

export type InstallStep =
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'run'; readonly argv: readonly string[]; readonly why: string };

export interface InstallRequest {
  readonly scope: 'system' | 'user';
  /** The command that starts this program: absolute paths. */
  readonly program: readonly string[];
  /** Absolute. null: the usual place of the scope. */
  readonly config: string | null;
  readonly failOn: readonly string[];
  /** `<home_dir>` of a user's service. */
  readonly home: string;
  /** `HOME`, `USER` and `PATH` of the installing user. */
  readonly userHome: string;
  readonly userName: string;
  readonly path: string;
}

export const SERVICE = 'hookwright.service';
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
