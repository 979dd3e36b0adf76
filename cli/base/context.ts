/** What a command may touch: streams, environment, time, network. Defaults are set here and nowhere else. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { ShippedCatalog } from '../../compiler/source/shipped-catalog.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { forgetVariables } from './forget-variables.ts';
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
  /** Whether each stream supports colours, from NO_COLOR, FORCE_COLOR, TERM and whether it is a TTY. */
  readonly colour: { readonly stdout: boolean; readonly stderr: boolean };
  /** The `.env` beside the config in use, where that is `./hookwright.yaml`; absolute. Set for each command line. */
  readonly projectEnv?: string;
  /** Values of `--config` on the command line. Set for each command line that has one. */
  readonly configs?: readonly string[];
  /** `$HOOKWRIGHT_HOME`, else `~/.hookwright`; absolute. It may not exist yet: see `openHome`. */
  readonly home: string;
  /** Folder for files that cannot be in the home, such as a control socket whose path would be too long. */
  readonly tmp: string;
  /** The command that starts this program again: Node.js, its options, the entry file. */
  readonly self: readonly string[];
  /** What the modules add. */
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
  /** Notes that this command has printed, for those that are printed once. */
  readonly said: Set<string>;
  readonly clock: Clock;
  readonly fetch: typeof fetch;
  readonly random: (bytes: number) => Buffer;
  /** Calls `listener` for each signal instead of ending the process; returns a function that stops listening. */
  readonly onSignal: (listener: (signal: StopSignal) => void) => () => void;
}

/** What the composition root passes to the command line. */
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
    // Few commands ask for it, and Node.js takes 20 ms to load its time zones for the answer.
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
  let catalog: Promise<ShippedCatalog> | null = null;
  return () => {
    catalog ??= import('../../compiler/node/shipped-catalog.ts').then(({ readShippedCatalog }) => readShippedCatalog());
    return catalog;
  };
}

/** The home folder an environment names. */
export function homeOf(env: NodeJS.ProcessEnv, cwd: string): string {
  const { HOOKWRIGHT_HOME: named } = env;
  return named === undefined || named === '' ? join(env.HOME || homedir(), '.hookwright') : resolve(cwd, named);
}

/** The home folder, created with mode 0700 when it is not there. */
export function openHome(context: CliContext): string {
  mkdirSync(context.home, { recursive: true, mode: 0o700 });
  return context.home;
}

export function wantsColour(env: NodeJS.ProcessEnv, isTTY: boolean | undefined): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== '') return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '') return env.FORCE_COLOR !== '0';
  return isTTY === true && env.TERM !== 'dumb';
}
