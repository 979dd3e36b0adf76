/** Runs programs in sandboxes for tests, as root or as a plain user, and skips the tests if the machine has no sandbox. */
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { nodeArgv } from '../../helpers/node-argv.ts';
import { skipWithout } from '../../helpers/skip-without.ts';
import type { SandboxProcess, SandboxResult } from './sandbox-process.ts';

const has = (...argv: string[]): boolean => spawnSync(argv[0] ?? '', argv.slice(1)).status === 0;

const NAMESPACES = [
  'bwrap',
  '--unshare-user',
  '--unshare-net',
  '--unshare-pid',
  '--ro-bind',
  '/',
  '/',
  'true',
] as const;
const hasPrograms = has('socat', '-V') && has('rg', '--version') && has('bwrap', '--version');

/** For the `skip` of node:test. */
export const noSandbox = skipWithout(
  hasPrograms && has(...NAMESPACES),
  'a sandbox (or user namespaces are not allowed)',
  'bubblewrap socat ripgrep',
);

export type User = 'root' | 'plain';
const AS_PLAIN_USER = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const;
const isRoot = process.getuid?.() === 0;

/** A plain user can read this repository only if the folders above it are readable by everyone. */
const isOpen = !isRoot || has(...AS_PLAIN_USER, 'test', '-r', fileURLToPath(import.meta.url));
if (!isOpen) console.error('NOT TESTED: a sandbox of a plain user, who cannot read this folder');

/** Users that this process can switch to; the tests of a plain user run as that user. */
export const USERS: readonly User[] = [...(isRoot ? (['root'] as const) : []), ...(isOpen ? (['plain'] as const) : [])];

/** @param argv started before node, such as a limit @param started called with the process that acts as the gateway */
export function runSandboxed(
  user: User,
  options: SandboxProcess,
  env: Readonly<Record<string, string>> = {},
  argv: readonly string[] = [],
  started: (child: ChildProcess) => void = () => {},
): Promise<readonly SandboxResult[]> {
  const become = isRoot && user === 'plain' ? AS_PLAIN_USER : [];
  const [program = '', ...args] = [
    ...become,
    ...argv,
    ...nodeArgv(new URL('./sandbox-process.js', import.meta.url)),
    JSON.stringify(options),
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    started(child);
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(out) as readonly SandboxResult[]);
      else reject(new Error(`the process of the test exited with ${code}: ${err}`));
    });
  });
}
