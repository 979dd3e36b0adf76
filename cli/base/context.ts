/** The outside world of a command: streams, environment, time, network. All defaults are set here. */
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { ShippedCatalog } from '../../compiler/source/load-catalog.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { Lazy } from '../../runtime/platform/lazy.ts';
import type { Module } from './module.ts';

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export interface CliContext {
  /** The environment at the start, including variables that were removed since. */
  readonly env: NodeJS.ProcessEnv;
  /** Absolute; relative paths on the command line start here. */
  readonly cwd: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** Writes all characters to stderr: only for prompts and progress bars. Absent: `stderr` does. */
  readonly terminal?: CliContext['stderr'];
  /** Whether each stream supports colours, from NO_COLOR, FORCE_COLOR, TERM and whether it is a TTY. */
  readonly colour: { readonly stdout: boolean; readonly stderr: boolean };
  /** The `.env` beside the config in use, where that is `./hookwright.yaml`; absolute. Set for each command line. */
  readonly projectEnv?: string;
  /** Values of `--config` on the command line. Set for each command line that has one. */
  readonly configs?: readonly string[];
  /** `--by` on the command line: who makes its changes. Set for each command line that has one. */
  readonly by?: string;
  /** Values of `--root`, absolute: folders whose files the configuration may name, besides its own. */
  readonly allowed?: readonly string[];
  /** `--home`, else `$HOOKWRIGHT_HOME`, else `home` of the configuration, else `~/.hookwright`; absolute. It may not exist yet: see `openHome`. */
  readonly home: string;
  /** Folder for files that cannot be in the home, such as a control socket whose path would be too long. */
  readonly tmp: string;
  /** The command that starts this program again: Node.js, its options, the entry file. */
  readonly self: readonly string[];
  /** The modules of the program. */
  readonly modules: readonly Module<CliContext>[];
  /** The entry of the thread that recompiles beside a serving gateway. */
  readonly recompileThread: URL;
  /** The shipped catalog, read on first use. */
  readonly catalog: () => Promise<ShippedCatalog>;
  readonly pid: number;
  /** The machine's IANA time zone. */
  readonly timezone: string;
  /** Ends the process immediately, including work in progress. */
  readonly exit: (code: number) => void;
  /** Removes variables that hold secrets from the process, so that no other process can read them there. */
  readonly forgetVariables: (names: ReadonlySet<string>) => void;
  /** Notes that this command has printed already, so that each is printed once. */
  readonly said: Set<string>;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly random: (bytes: number) => Buffer;
  /** Calls `listener` for each signal instead of ending the process; returns a function that stops listening. */
  readonly onSignal: (listener: (signal: StopSignal) => void) => () => void;
}

/** The part of the context that the composition root provides. */
export type Composition = Pick<CliContext, 'modules' | 'recompileThread'>;

/** The context of the process itself. */
export function createContext(process: NodeJS.Process, composition: Composition): CliContext {
  const { stdin, stdout, stderr } = process;
  const env = { ...process.env };
  const colour = { stdout: wantsColour(env, stdout.isTTY), stderr: wantsColour(env, stderr.isTTY) };
  return {
    env,
    cwd: process.cwd(),
    stdin,
    stdout,
    stderr,
    colour,
    home: homeOf(env, process.cwd()),
    tmp: tmpdir(),
    self: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
    ...composition,
    catalog: createCatalog(),
    pid: process.pid,
    // Computed on demand: Node.js takes 20 ms to load its time zones.
    get timezone() {
      return Intl.DateTimeFormat().resolvedOptions().timeZone;
    },
    exit: (code) => process.exit(code),
    forgetVariables: (names) => void forgetVariables(process.env, names),
    said: new Set(),
    clock: systemClock,
    fetch: (...request) => fetch(...request),
    random: randomBytes,
    onSignal: (listener) => {
      const signals: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
      for (const signal of signals) process.on(signal, listener);
      return () => {
        for (const signal of signals) process.off(signal, listener);
      };
    },
  };
}

/** Loaded with the first call: most commands need neither the catalog nor the code that reads it. */
export function createCatalog(): CliContext['catalog'] {
  const catalog = new Lazy(async () => (await import('../../compiler/node/shipped-catalog.ts')).readShippedCatalog());
  return () => catalog.use();
}

/** The home folder an environment names. */
export function homeOf(env: NodeJS.ProcessEnv, cwd: string): string {
  const { HOOKWRIGHT_HOME: named } = env;
  return named === undefined || named === '' ? join(env.HOME || homedir(), '.hookwright') : resolve(cwd, named);
}

/** Returns the home folder, and creates it with mode 0700 if it is missing. */
export function openHome(context: CliContext): string {
  mkdirSync(context.home, { recursive: true, mode: 0o700 });
  return context.home;
}

export function wantsColour(env: NodeJS.ProcessEnv, isTTY: boolean | undefined): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0';
  return isTTY === true && env.TERM !== 'dumb';
}

/*
 * Removes variables that hold secrets from this process, once they have been read: the agents and scripts it starts run as
 * the same user, and could otherwise read them in `/proc/<pid>/environ` of the gateway.
 *
 * Deleting a variable does not change what `/proc` shows: that is the memory in which the kernel put the environment when
 * the program was started. A process may write to its own memory through `/proc/self/mem`, so the values are overwritten
 * there. That takes less than a millisecond. Restarting the program without them would double the start time, and
 * Node.js 20 cannot replace its own process, so the first one would stay, with its environment.
 */

/** Fields of `/proc/self/stat`, counted from the one after the program's name: proc(5), `env_start` and `env_end`. */
const ENV_START = 47;
const ENV_END = 48;

/** Returns false if other processes may still see one of the values, or if this cannot be checked (not Linux). */
export function forgetVariables(env: NodeJS.ProcessEnv, names: ReadonlySet<string>): boolean {
  for (const name of names) delete env[name];
  try {
    overwrite(names);
    return valuesOf(readFileSync('/proc/self/environ'), names).length === 0;
  } catch {
    return false;
  }
}

function overwrite(names: ReadonlySet<string>): void {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [start, end] = [Number(fields[ENV_START]), Number(fields[ENV_END])];
  const block = readFileSync('/proc/self/environ');
  // With any other memory layout, nothing is written.
  if (!(start > 0) || end - start !== block.length) return;
  const values = valuesOf(block, names);
  if (values.length === 0) return;
  const memory = openSync('/proc/self/mem', 'r+');
  try {
    for (const { offset, length } of values) writeSync(memory, Buffer.alloc(length), 0, length, start + offset);
  } finally {
    closeSync(memory);
  }
}

/** The positions of the values of these variables in the block; empty values are skipped. */
function valuesOf(block: Buffer, names: ReadonlySet<string>): { readonly offset: number; readonly length: number }[] {
  const found: { offset: number; length: number }[] = [];
  for (let at = 0; at < block.length; ) {
    const nul = block.indexOf(0, at);
    const end = nul < 0 ? block.length : nul;
    const equals = block.indexOf('=', at);
    if (equals >= at && equals < end - 1 && names.has(block.toString('utf8', at, equals))) {
      found.push({ offset: equals + 1, length: end - equals - 1 });
    }
    at = end + 1;
  }
  return found;
}

/** The closest folder above this file with a package.json; the depth differs between the sources and the built program. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
}
