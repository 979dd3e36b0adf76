/** Prints the systemd unit that runs a gateway: for the whole machine with everything closed that it does not need, or for one user. */
import { dirname } from 'node:path';
import LIMITS from './unit-limits.json' with { type: 'json' };

export interface ServiceUnit {
  /** The command that starts this program: absolute paths. */
  readonly program: readonly string[];
  /** Absolute. */
  readonly config: string;
  /** Which differences make the gateway refuse a changed configuration. */
  readonly failOn: readonly string[];
  /** `<home_dir>`, absolute. */
  readonly home: string;
  /** A system unit runs as this user. null: the unit of the user who installs it. */
  readonly user: string | null;
  /** `PATH` of a user's unit: where its agents are found. */
  readonly path: string;
}

export const MARK = '# Written by `hookwright gateway install-service`. Change it with `systemctl edit`.';

/**
 * A user's unit has the limits that its service manager can set without namespaces, which many systems keep from users. None
 * has `MemoryDenyWriteExecute`: V8 compiles to memory that it executes.
 */
export function printUnit(unit: ServiceUnit): string {
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
