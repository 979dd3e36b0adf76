/** Builds the settings of the sandbox runtime for a run. A pure function of plan, run and machine. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxExtras } from '../../../runtime/platform/process/sandbox.ts';
import type { SandboxPlan } from '../../../schemas/generated/types.ts';
import type { Paths } from './paths.ts';
import { depth, within } from './paths.ts';

/** A run and the locations on this machine. All paths are absolute, with links resolved. */
interface Run {
  readonly network: SandboxPlan['network'];
  readonly onlyTo: NonNullable<SandboxExtras['onlyTo']>;
  readonly paths: Paths;
  /** Folder of this run that its program cannot see: sockets, the certificate authority that ends TLS. */
  readonly control: string;
  /** A folder of this run for its temporary files. */
  readonly scratch: string;
  readonly userHome: string;
  /** Folders hidden from every program: homes, temporary files, folders of other agents. */
  readonly folders: readonly string[];
  /** Readable files in hidden folders, as far as they still exist. */
  readonly files: readonly string[];
  /** Files of the configuration, and the folder of its tables. */
  readonly hidden: readonly string[];
  /** Files that the program must neither change nor create: configuration and other files that decide what the gateway does. */
  readonly kept: readonly string[];
  /** Folder of the installed runtime. */
  readonly runtime: string;
}

type Entry = string | { readonly path: string; readonly literal: true };

/** Paths are literal, never patterns. */
const named = (paths: readonly string[]): readonly Entry[] =>
  [...new Set(paths)].map((path) => ({ path, literal: true }));

/** Folders that the runtime lets every program write. */
const OPENED = ['/tmp/claude', '/private/tmp/claude'];
const OPENED_IN_HOME = ['.npm/_logs', '.claude/debug'];

/** Returns settings of the runtime, additional arguments of bubblewrap, and hidden folders that stay writable. */
export function settingsOf({ network, onlyTo, paths, ...run }: Run) {
  const { read, write } = paths;
  // An entry for the root would hide everything. A folder that the plan names is not hidden and reopened, because that would
  // make its writable folders read-only.
  const denied = [...run.folders, ...run.hidden].filter((path) => ![...read, ...write, '/'].includes(path));
  const below = (path: string, folders: readonly string[]): boolean =>
    folders.some((folder) => path !== folder && within(path, folder));
  // The runtime mounts readable paths after writable ones, and so covers paths below them, unless these are hidden too.
  const reopened = read.filter((folder) => below(folder, denied));
  const shut = write.filter((path) => below(path, reopened));
  const folders = shut.filter((path) => statSync(path).isDirectory());
  const files = shut.filter((path) => !folders.includes(path) && !run.hidden.includes(path));
  const links = [...paths.links].filter(([at]) => depth(at, denied) > depth(at, [...read, ...write]));
  const opened = [...OPENED, ...OPENED_IN_HOME.map((path) => join(run.userHome, path))];
  const sockets = [join(run.control, '*.sock'), join(run.control, 'srt-obs-*', '*.sock')];
  const settings = {
    network: networkOf(network, onlyTo),
    filesystem: {
      denyRead: named([...denied, ...folders]),
      allowRead: [...named([...read, ...write, join(run.runtime, 'vendor')]), ...sockets],
      allowWrite: named([...write, run.scratch]),
      // A program that could change the configuration would leave its sandbox at the next reload.
      denyWrite: named([...opened.filter((path) => !write.some((folder) => within(path, folder))), ...run.kept]),
    },
  };
  const linked = links.flatMap(([at, target]) => ['--symlink', target, at]);
  const readable = run.files.flatMap((path) => ['--ro-bind-try', path, path]);
  const mounts = [...linked, ...readable, ...files.flatMap((path) => ['--bind', path, path])];
  return { settings, mounts, writable: folders };
}

function networkOf(network: SandboxPlan['network'], onlyTo: Run['onlyTo']): object {
  // launch.mjs allows all that is not refused otherwise.
  if (network === 'any') return { allowedDomains: [], deniedDomains: [] };
  const receivers = Object.values(onlyTo).flatMap(({ only_to }) => only_to.map(withoutPort));
  const others = network.map(withoutPort).filter((host) => !receivers.some((receiver) => overlap(host, receiver)));
  const ending = receivers.length === 0 ? {} : { tlsTerminate: { excludeDomains: [...new Set(others)] } };
  return { allowedDomains: network, deniedDomains: [], strictAllowlist: true, ...ending };
}

/** The headers in which services expect a key. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'];

/** Where a secret goes, in lower case: to `host:port` or `*.host:port`, in headers and bodies. */
export function insertionOf({ only_to, header, in: place }: Run['onlyTo'][string]) {
  return {
    hosts: only_to.map((host) => (/:\d+$/.test(host) ? host : `${host}:443`).toLowerCase()),
    headers: header === undefined ? KEY_HEADERS : [header.toLowerCase()],
    body: place === 'body',
  };
}

const withoutPort = (host: string): string =>
  host
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1');

/** True if both patterns match some host; each may be `*.` and a domain. */
function overlap(one: string, other: string): boolean {
  const covers = (pattern: string, host: string): boolean =>
    pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : pattern === host;
  return covers(one, other) || covers(other, one);
}

/** Addresses for which programs bypass a proxy by default. */
const LOCAL = /^(?:localhost|127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|\[)/;

export const listsLocal = (network: SandboxPlan['network']): boolean =>
  network === 'any' || network.some((host) => LOCAL.test(host));
