/** Prints the systemd unit that runs a gateway: for the whole machine with everything closed that it does not need, or for one user. */

export interface ServiceUnit {
  /** The command that starts this program: absolute paths. */
  readonly program: readonly string[];
  /** Absolute. */
  readonly config: string;
  /** Which differences make the gateway refuse a changed configuration. */
  readonly failOn: readonly string[];
  /** Absolute: folder of the configuration. */
  readonly folder: string;
  /** `<home_dir>`, absolute. */
  readonly home: string;
  /** A system unit runs as this user. null: the unit of the user who installs it. */
  readonly user: string | null;
  /** `PATH` of a user's unit: where its agents are found. */
  readonly path: string;
}

export const MARK = '# Written by `hookwright gateway install-service`. Change it with `systemctl edit`.';

export function printUnit(unit: ServiceUnit): string {
  const { program, config, failOn, folder, home, user } = unit;
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
    `WorkingDirectory=${folder.replaceAll('%', '%%')}`,
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
    ...(user === null ? USER_LIMITS : SYSTEM_LIMITS),
    '',
    '[Install]',
    `WantedBy=${user === null ? 'default' : 'multi-user'}.target`,
  ];
  return `${sections.join('\n')}\n`;
}

/** What a user's service manager can do without namespaces, which many systems keep from users. */
const USER_LIMITS: readonly string[] = [
  'NoNewPrivileges=yes',
  'LockPersonality=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'SystemCallArchitectures=native',
];

/** Not `MemoryDenyWriteExecute`: V8 compiles to memory that it executes. */
const SYSTEM_LIMITS: readonly string[] = [
  'StateDirectory=hookwright',
  'StateDirectoryMode=0700',
  'NoNewPrivileges=yes',
  'CapabilityBoundingSet=',
  'AmbientCapabilities=',
  'ProtectSystem=strict',
  'ProtectHome=yes',
  'PrivateTmp=yes',
  'PrivateDevices=yes',
  'PrivateUsers=yes',
  'ProtectClock=yes',
  'ProtectHostname=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelTunables=yes',
  'ProtectControlGroups=yes',
  'ProtectProc=invisible',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'LockPersonality=yes',
  'RemoveIPC=yes',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service @pkey',
  'SystemCallFilter=~@privileged @resources',
  'SystemCallErrorNumber=EPERM',
];

/** A word of a command line, as systemd.service(5) reads it. */
function quote(word: string): string {
  const escaped = word.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./$-]+$/.test(word) ? escaped : `"${escaped.replace(/["\\]/g, '\\$&')}"`;
}

const environment = (name: string, value: string): string =>
  `Environment="${name}=${value.replaceAll('%', '%%').replace(/["\\]/g, '\\$&')}"`;
