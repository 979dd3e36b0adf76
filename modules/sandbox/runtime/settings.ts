/** What a run's sandbox may reach, as settings of the sandbox runtime. A pure function of plan, run and machine. */
import { join } from 'node:path';
import type { Walls } from '../../../runtime/platform/process/sandbox.ts';
import type { SandboxPlan } from '../../../schemas/generated/types.ts';

/** Where things are on this machine; all paths are absolute. */
export interface MachinePaths {
  readonly home: string;
  readonly userHome: string;
  /** Temporary files of everybody. */
  readonly temporary: string;
  /** Files of the configuration. */
  readonly hidden: readonly string[];
  /** Folder of the installed runtime. */
  readonly runtime: string;
  /** The wrapper of bubblewrap. */
  readonly bwrap: string;
  /** Where its program finds the addresses of names. */
  readonly resolver: string | null;
}

export interface Run {
  readonly walls: Walls;
  readonly writable: readonly string[];
  readonly readable: readonly string[];
  /** A folder of this run that its program does not see: sockets, the authority that ends TLS. */
  readonly control: string;
  /** A folder of this run for its temporary files. */
  readonly scratch: string;
}

type Entry = string | { readonly path: string; readonly literal: true };

/** A path is a name, never a pattern. */
const named = (paths: readonly string[]): readonly Entry[] =>
  [...new Set(paths)].map((path) => ({ path, literal: true }));

/** Temporary files of others, wherever this process has its own. */
const TEMPORARY = ['/tmp', '/private/tmp', '/var/tmp'];

/** What the runtime lets every program write. */
const OPENED = ['/tmp/claude', '/private/tmp/claude'];
const OPENED_IN_HOME = ['.npm/_logs', '.claude/debug'];

const within = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);

export function settingsOf(plan: SandboxPlan, run: Run, places: MachinePaths): object {
  const { home, userHome, temporary, hidden } = places;
  const absolute = (path: string): string => (/^~(?:\/|$)/.test(path) ? join(userHome, path.slice(1)) : path);
  const [read, write] = [plan.read.map(absolute), plan.write.map(absolute)];
  const secret = [home, userHome, '/run', temporary, ...TEMPORARY, ...hidden, ...(run.walls.hidden ?? [])];
  const opened = [...OPENED, ...OPENED_IN_HOME.map((path) => join(userHome, path))];
  const sockets = [join(run.control, '*.sock'), join(run.control, 'srt-obs-*', '*.sock')];
  return {
    network: networkOf(plan.network, run.walls.onlyTo ?? {}),
    filesystem: {
      // An entry for the root would hide everything. What a plan names itself is not hidden and opened again: that would
      // shut what it may write in it.
      denyRead: named(secret.filter((path) => path !== '/' && !read.includes(path) && !write.includes(path))),
      allowRead: [
        ...named([...read, ...run.readable, ...run.writable, join(places.runtime, 'vendor')]),
        ...named(plan.network === 'any' && places.resolver !== null ? [places.resolver] : []),
        ...sockets,
      ],
      allowWrite: named([...write, ...run.writable, run.scratch]),
      // A program that changes the configuration would leave its sandbox with the next reload.
      denyWrite: named([...opened.filter((path) => !write.some((folder) => within(path, folder))), ...hidden]),
    },
    ...credentialsOf(run.walls.onlyTo ?? {}),
    bwrapPath: places.bwrap,
  };
}

function networkOf(network: SandboxPlan['network'], onlyTo: Readonly<Record<string, readonly string[]>>): object {
  // Without a list of hosts, the runtime does not separate the network.
  if (network === 'any') return { deniedDomains: [] };
  const receivers = Object.values(onlyTo).flat();
  const others = network.map(withoutPort).filter((host) => !receivers.some((receiver) => overlap(host, receiver)));
  const ending = receivers.length === 0 ? {} : { tlsTerminate: { excludeDomains: [...new Set(others)] } };
  return { allowedDomains: network, deniedDomains: [], strictAllowlist: true, ...ending };
}

function credentialsOf(onlyTo: Readonly<Record<string, readonly string[]>>): object {
  const masked = Object.entries(onlyTo).map(([name, injectHosts]) => ({ name, mode: 'mask', injectHosts }));
  return masked.length === 0 ? {} : { credentials: { envVars: masked } };
}

const withoutPort = (host: string): string => host.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');

/** Whether some host is meant by both; each may be `*.` and a domain. */
function overlap(one: string, other: string): boolean {
  const covers = (pattern: string, host: string): boolean =>
    pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : pattern === host;
  return covers(one, other) || covers(other, one);
}

/** Addresses that programs do not ask a proxy for, unless they are told to. */
const LOCAL = /^(?:localhost|127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|\[)/;

export const listsLocal = (network: SandboxPlan['network']): boolean =>
  network !== 'any' && network.some((host) => LOCAL.test(host));
