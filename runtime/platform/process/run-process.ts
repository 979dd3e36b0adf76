/**
 * Runs a program to its end, with bounded output, for agents, scripts and command-line drivers.
 *
 * The program reads its input from a file that is complete before it starts, never from a pipe. It leads its own process group.
 * When the run ends (exit, timeout, abort, too much output), the group is killed with SIGKILL, and on Linux also descendants
 * that have left the group. Descendants that cannot be found are not waited for. The result is never a rejection: each way in
 * which a run can end is a `kind`.
 */
import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Collected } from '../../../base/collected.ts';
import { codeOf } from '../../../base/errors.ts';
import type { Clock, Timer } from '../clock.ts';
import { describeDiskError } from '../files.ts';
import { killLeavers, RUN_MARK } from './leavers.ts';
import { StderrTail } from './stderr-tail.ts';

/**
 * A program to run.
 *
 * @example
 * ```ts
 * import type { ProcessRequest } from 'hookwright/runtime';
 *
 * const request: ProcessRequest = {
 *   argv: ['git', 'status'],
 *   cwd: '/var/lib/app',
 *   env: { PATH: '/usr/bin' },
 *   stdin: '',
 *   timeoutMs: 10_000,
 *   maxStdoutBytes: 65_536,
 * };
 * ```
 */
export interface ProcessRequest {
  /** Program and arguments; no shell is involved. */
  readonly argv: readonly string[];
  /** Absolute path of the working directory. */
  readonly cwd: string;
  /** The complete environment, except for the mark of the run: nothing is inherited. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Input on stdin. If it cannot be written completely, the program does not start. The program need not read it. */
  readonly stdin: string | Uint8Array;
  /** Timeout in ms; then the program is killed. */
  readonly timeoutMs: number;
  /** Maximum output, in bytes; a program that writes more is killed. */
  readonly maxStdoutBytes: number;
  /** Whether a line of the output, with its end, is kept; others do not count as output. Default: all. */
  readonly keepLine?: (line: Buffer) => boolean;
  /** Kills the program when it is aborted. Default: none. */
  readonly signal?: AbortSignal;
  /** Absolute paths that a sandboxed program may read and write besides those of its sandbox. Default: none. */
  readonly writable?: readonly string[];
  /** Absolute paths that a sandboxed program may also read. Default: none. */
  readonly readable?: readonly string[];
}

/**
 * How a program ended. `exit`: by itself or by a signal, with its output in bytes; `timeout`, `overflow` (too much output)
 * and `aborted`: it was killed; `spawn_failed` and `input_failed`: it did not start. `stderr` holds its last 80 KiB.
 * `denied`: accesses that its sandbox denied, if it had one: `host:port`, and files that it tried to write.
 *
 * @example
 * ```ts
 * import type { ProcessResult } from 'hookwright/runtime';
 *
 * const succeeded = (result: ProcessResult): boolean => result.kind === 'exit' && result.code === 0;
 * ```
 */
export type ProcessResult =
  /** `code` is null if a signal ended the program. */
  | {
      readonly kind: 'exit';
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
      readonly stdout: Buffer;
      readonly stderr: string;
      readonly denied?: readonly string[];
    }
  | {
      readonly kind: 'timeout' | 'overflow' | 'aborted';
      /** What was read until it was killed, at most `maxStdoutBytes`. */
      readonly stdout?: Buffer;
      readonly stderr: string;
      readonly denied?: readonly string[];
    }
  /** The program did not start; `code` is the system's error code (`ENOENT`, `EACCES`, `EAGAIN`, …). */
  | { readonly kind: 'spawn_failed'; readonly code: string; readonly stderr: string }
  /** Its input could not be written, for example because the disk is full. */
  | { readonly kind: 'input_failed'; readonly code: string; readonly reason: string; readonly stderr: string };

/**
 * Runs a program to its end: `run` of `createService` replaces child processes, for tests or a sandbox.
 *
 * @param request program, input and limits
 * @returns how the program ended; it must not reject
 *
 * @example
 * ```ts
 * import type { RunProcess } from 'hookwright/runtime';
 *
 * const run: RunProcess = async ({ argv }) => ({
 *   kind: 'exit',
 *   code: 0,
 *   signal: null,
 *   stderr: '',
 *   stdout: Buffer.from(`ran ${argv[0]}`),
 * });
 * ```
 */
export type RunProcess = (request: ProcessRequest) => Promise<ProcessResult>;

/** Maximum time that the pipes of a finished program may stay open, in ms. */
const PIPE_GRACE_MS = 250;

type Child = ChildProcessByStdio<null, Readable, Readable>;
type Ending = { readonly kind: 'timeout' | 'overflow' | 'aborted' };
type Exit = { readonly kind: 'exit'; readonly code: number | null; readonly signal: NodeJS.Signals | null };

export interface ProcessContext {
  readonly clock: Clock;
  /** `<home_dir>`: inputs are written below it. */
  readonly home: string;
}

/** Runs a program to its end. Never rejects; see `ProcessResult`. */
export async function runProcess(request: ProcessRequest, { clock, home }: ProcessContext): Promise<ProcessResult> {
  let input: FileHandle | null = null;
  let child: Child;
  const mark = randomBytes(16).toString('hex');
  try {
    if (request.stdin.length > 0) input = await openInput(inputFolder(home), request.stdin);
  } catch (error) {
    return { kind: 'input_failed', code: codeOf(error) ?? 'UNKNOWN', reason: describeDiskError(error), stderr: '' };
  }
  try {
    if (request.signal?.aborted === true) return { kind: 'aborted', stderr: '' };
    child = start(request, mark, input);
  } catch (error) {
    return { kind: 'spawn_failed', code: codeOf(error) ?? 'UNKNOWN', stderr: '' };
  } finally {
    // The program has its own descriptor.
    void input?.close().catch(() => {});
  }
  return new Promise((resolve) => new Execution(child, mark, request, clock, resolve));
}

/** Used as an error code: a sandboxed program is the only one in its folder. */
export const FOLDER_IN_USE = 'another run is using its folder';

/** Error codes for a lack of processes, memory, file descriptors or disk space: the program may start later. */
const TEMPORARY_CODES = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', FOLDER_IN_USE]);

/** True if an error, such as that of a disk, is such a lack. */
export const isTemporaryLack = (error: unknown): boolean => TEMPORARY_CODES.has(codeOf(error) ?? '');

/** Why the machine cannot start the program now; null if it started, or never can. */
export function lackOf(result: ProcessResult): string | null {
  if (result.kind === 'input_failed') return `the input of the program could not be written: ${result.reason}`;
  return result.kind === 'spawn_failed' && TEMPORARY_CODES.has(result.code)
    ? `the program could not be started: ${result.code}`
    : null;
}

function start({ argv, cwd, env }: ProcessRequest, mark: string, input: FileHandle | null): Child {
  const [program = '', ...args] = argv;
  return spawn(program, args, {
    cwd,
    env: { ...env, [RUN_MARK]: mark },
    detached: true,
    shell: false,
    stdio: [input === null ? 'ignore' : input.fd, 'pipe', 'pipe'],
  }) as Child;
}

/** One started program, until its result. */
class Execution {
  private readonly stdout = new Collected();
  /** The parts of an incomplete line. */
  private line: Buffer[] = [];
  private heldBytes = 0;
  private readBytes = 0;
  private readonly stderr = new StderrTail();
  private ending: Ending | Exit | null = null;
  private readonly timers: Timer[] = [];
  private readonly onAbort = (): void => this.end({ kind: 'aborted' });
  private readonly child: Child;
  private readonly mark: string;
  /** Resolves once no process of the run is alive. */
  private leaversKilled: Promise<void> = Promise.resolve();
  private readonly request: ProcessRequest;
  private readonly clock: Clock;
  private readonly resolve: (result: ProcessResult) => void;

  constructor(
    child: Child,
    mark: string,
    request: ProcessRequest,
    clock: Clock,
    resolve: (result: ProcessResult) => void,
  ) {
    this.child = child;
    this.mark = mark;
    this.request = request;
    this.clock = clock;
    this.resolve = resolve;
    child.on('error', (error) => this.settle({ kind: 'spawn_failed', code: codeOf(error) ?? 'UNKNOWN', stderr: '' }));
    child.on('exit', (code, signal) => this.end({ kind: 'exit', code, signal }));
    child.on('close', () => this.finish());
    child.stdout.on('data', (chunk: Buffer) => this.collect(chunk));
    child.stderr.on('data', (chunk: Buffer) => this.stderr.push(chunk));
    for (const stream of [child.stdout, child.stderr]) stream.on('error', () => {});
    if (child.pid === undefined) return;
    if (running.size === 0) process.on('exit', killRunning);
    running.add(child);
    this.timers.push(clock.after(request.timeoutMs, () => this.end({ kind: 'timeout' })));
    request.signal?.addEventListener('abort', this.onAbort, { once: true });
  }

  private collect(chunk: Buffer): void {
    this.readBytes += chunk.length;
    const { keepLine } = this.request;
    for (const part of keepLine === undefined ? [chunk] : linesOf(chunk)) {
      this.heldBytes += part.length;
      if (this.heldBytes > this.request.maxStdoutBytes) {
        this.end({ kind: 'overflow' });
        return;
      }
      this.line.push(part);
      if (keepLine === undefined || part.at(-1) === NEW_LINE) this.endLine(keepLine);
    }
  }

  private endLine(keepLine: ProcessRequest['keepLine']): void {
    const [first = Buffer.of(), ...more] = this.line;
    const line = more.length === 0 ? first : Buffer.concat(this.line);
    this.line = [];
    if (keepLine?.(line) === false) this.heldBytes -= line.length;
    else this.stdout.add(line);
  }

  /** The first cause counts, except that too much output, even if found after the exit, replaces the exit. */
  private end(cause: Ending | Exit): void {
    const first = this.ending === null;
    if (!first && !(this.ending?.kind === 'exit' && cause.kind === 'overflow')) return;
    this.ending = cause;
    this.killAll(cause.kind === 'exit' ? 'new' : 'all');
    if (first) this.awaitPipes();
  }

  private killAll(scope: 'new' | 'all'): void {
    killGroup(this.child);
    const { pid } = this.child;
    if (pid !== undefined) this.leaversKilled = killLeavers({ mark: this.mark, pid, scope });
  }

  /** Finishes once the pipes are silent. Waits for the turn after the timer, which reads what is still unread. */
  private awaitPipes(): void {
    const seen = this.readBytes;
    const check = (): void => (this.readBytes === seen ? this.finish() : this.awaitPipes());
    this.timers.push(this.clock.after(PIPE_GRACE_MS, () => setImmediate(check)));
  }

  /** Called once the pipes are closed or silent. */
  private finish(): void {
    if (this.ending !== null)
      this.settle({
        ...this.ending,
        stdout: Buffer.concat([this.stdout.whole(), ...this.line]),
        stderr: this.stderr.text(),
      });
  }

  private settle(result: ProcessResult): void {
    running.delete(this.child);
    if (running.size === 0) process.off('exit', killRunning);
    for (const timer of this.timers) timer.cancel();
    this.request.signal?.removeEventListener('abort', this.onAbort);
    for (const stream of [this.child.stdout, this.child.stderr]) stream.destroy();
    void this.leaversKilled.then(() => this.resolve(result));
  }
}

const NEW_LINE = 10;

/** The lines of a part of the output; the last one may be incomplete. */
function linesOf(chunk: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; from < chunk.length; from += lines.at(-1)?.length ?? 0) {
    const end = chunk.indexOf(NEW_LINE, from);
    lines.push(chunk.subarray(from, end < 0 ? undefined : end + 1));
  }
  return lines;
}

/** The programs that run now. One list for the process, which exits once: it leaves none behind. */
const running = new Set<Child>();

function killRunning(): void {
  for (const child of running) killGroup(child);
}

function killGroup(child: Child): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // ESRCH: the whole group has ended.
  }
}

/**
 * Provides the input of a program as a file that is complete before the program starts. With a pipe, a program whose parent is
 * killed would read a part of its input and the end of the file, and could not know that the rest is missing.
 */

/** The folder of program inputs, below `<home_dir>`. */
export const inputFolder = (home: string): string => join(home, 'run', 'input');

/**
 * Writes `input` to a new file of `folder`, mode 0600, and opens it for reading. Its name is removed before it is written, so
 * that nothing is left when this process is killed. Creates `folder` if it is missing. Rejects like node:fs, with nothing left.
 */
export async function openInput(folder: string, input: string | Uint8Array): Promise<FileHandle> {
  const path = join(folder, randomUUID());
  const written = await create(path, folder);
  let read: FileHandle | null = null;
  try {
    read = await open(path, 'r');
    await rm(path, { force: true });
    await written.writeFile(input);
    // Some file systems report a full disk only here.
    await written.close();
    return read;
  } catch (error) {
    await Promise.allSettled([written.close(), read?.close(), rm(path, { force: true })]);
    throw error;
  }
}

async function create(path: string, folder: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return open(path, 'wx', 0o600);
  }
}

/** Removes inputs that earlier processes left because they were killed. Never rejects. */
export async function removeInputs(home: string): Promise<void> {
  const folder = inputFolder(home);
  const left = await readdir(folder).catch(() => []);
  await Promise.allSettled(left.map((name) => rm(join(folder, name))));
}
