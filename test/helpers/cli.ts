/** Drives the command line for tests: in this process with recorded streams, or as a real process. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { PassThrough, Readable, Writable } from 'node:stream';
import type { CliContext, StopSignal } from '../../cli/base/context.ts';
import { createCatalog } from '../../cli/base/context.ts';
import { runCli } from '../../cli/run.ts';
import { MODULES } from '../../main/modules.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import { isBuilt, nodeArgv } from './node-argv.ts';

export const SELF = nodeArgv(new URL('../../main/cli.js', import.meta.url));

/** One file if the tests are compiled. */
const RECOMPILE_THREAD = new URL(
  isBuilt ? '../../main/parts/recompile-thread.js' : '../../main/recompile-thread.js',
  import.meta.url,
);

/** Read once for all tests of a file. */
const shippedCatalog = createCatalog();

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  /** Becomes `$HOOKWRIGHT_HOME` and, unless `cwd` is given, the working folder. */
  readonly home: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly stdin?: string;
  /** Replaces parts of the context (clock, fetch, colour); in-process only. */
  readonly context?: Partial<CliContext>;
}

class Recorder extends Writable {
  text = '';
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  override _write(chunk: Buffer | string, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** A running command in this process, for commands that run until they are stopped. */
export interface RunningCli {
  readonly done: Promise<CliResult>;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly signal: (signal: StopSignal) => void;
}

/** A context for a test, and what commands write to it. */
export function contextFor(options: CliOptions): CliContext {
  return recordedContext(options).context;
}

interface Recorded {
  readonly context: CliContext;
  readonly stdout: Recorder;
  readonly stderr: Recorder;
  /** A signal without a listener waits for the first one, because a test cannot see when that is added. */
  readonly signal: (signal: StopSignal) => void;
}

function recordedContext(options: CliOptions): Recorded {
  const stdout = new Recorder();
  const stderr = new Recorder();
  const listeners = new Set<(signal: StopSignal) => void>();
  const early: StopSignal[] = [];
  const context: CliContext = {
    env: { PATH: process.env.PATH, HOOKWRIGHT_HOME: options.home, ...options.env },
    cwd: options.cwd ?? options.home,
    stdin: Readable.from(options.stdin === undefined ? [] : [options.stdin]),
    stdout,
    stderr,
    colour: { stdout: false, stderr: false },
    home: options.home,
    tmp: tmpdir(),
    self: SELF,
    modules: MODULES,
    recompileThread: RECOMPILE_THREAD,
    catalog: shippedCatalog,
    pid: process.pid,
    timezone: 'UTC',
    exit: () => {},
    forgetVariables: () => {},
    said: new Set(),
    clock: systemClock,
    fetch: (...request) => fetch(...request),
    random: randomBytes,
    onSignal: (listener) => {
      listeners.add(listener);
      for (const signal of early.splice(0)) setImmediate(() => listener(signal));
      return () => listeners.delete(listener);
    },
    ...options.context,
  };
  const signal = (signal: StopSignal): void => {
    if (listeners.size === 0) early.push(signal);
    for (const listener of listeners) listener(signal);
  };
  return { context, stdout, stderr, signal };
}

export function startInProcess(argv: readonly string[], options: CliOptions): RunningCli {
  const { context, stdout, stderr, signal } = recordedContext(options);
  const done = runCli(argv, context).then((code) => ({ code, stdout: stdout.text, stderr: stderr.text }));
  return {
    done,
    stdout: () => stdout.text,
    stderr: () => stderr.text,
    signal,
  };
}

/** Runs one command to its end in this process. */
export function runInProcess(argv: readonly string[], options: CliOptions): Promise<CliResult> {
  return startInProcess(argv, options).done;
}

/** Starts the program as a separate process; the caller ends it. */
export function startProcess(argv: readonly string[], options: CliOptions): ChildProcess {
  const [program = '', ...args] = SELF;
  return spawn(program, [...args, ...argv], {
    cwd: options.cwd ?? options.home,
    env: { PATH: process.env.PATH, HOME: options.home, HOOKWRIGHT_HOME: options.home, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Runs one command to its end as a separate process. */
export function runProcess(argv: readonly string[], options: CliOptions): Promise<CliResult> {
  const child = startProcess(argv, options);
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin?.end(options.stdin ?? '');
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** A shell script that runs the program, for a PATH. */
export function selfScript(): string {
  return `#!/bin/sh\nexec ${SELF.map((word) => `'${word}'`).join(' ')} "$@"\n`;
}

/** The program as an argument vector. */
export const selfArgv = (): readonly string[] => SELF;

/** A user at a terminal, in this process: types when the expected text appears after the previous one. */
export async function runOnFakeTerminal(
  argv: readonly string[],
  exchanges: readonly (readonly [waitFor: string, type: string])[],
  options: CliOptions,
): Promise<CliResult> {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  const screen = Object.assign(new Recorder(), { isTTY: true, columns: 120, rows: 50 });
  const context = { ...options.context, stdin, stderr: screen };
  const running = startInProcess(argv, { ...options, context });
  let ended = false;
  const done = running.done.then((result) => {
    ended = true;
    return { ...result, stderr: screen.text };
  });
  let seen = 0;
  for (const [waitFor, type] of exchanges) {
    const until = performance.now() + 300_000;
    while (!ended && screen.text.indexOf(waitFor, seen) < 0) {
      if (performance.now() > until) throw new Error(`"${waitFor}" did not show up:\n${screen.text.slice(seen)}`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    seen = screen.text.indexOf(waitFor, seen) + waitFor.length;
    if (ended) break;
    stdin.write(type);
  }
  return done;
}
