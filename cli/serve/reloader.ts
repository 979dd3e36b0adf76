/** Applies a changed configuration to a serving gateway: recompiles it if allowed, then reloads the table. */
import type { FSWatcher } from 'node:fs';
import { statSync, watch } from 'node:fs';
import { dirname, join } from 'node:path';
import { ControlError } from '../../runtime/control/control-error.ts';
import type { Clock, Timer } from '../../runtime/platform/clock.ts';
import type { Logger } from '../../runtime/platform/log.ts';
import { startEntry } from '../../runtime/platform/process/threads.ts';
import { SecretError } from '../../runtime/platform/secrets.ts';
import type { OperatedService } from '../../runtime/service/options.ts';
import { StoreUnavailable } from '../../runtime/store/contract.ts';
import { StoreDamaged } from '../../runtime/store/decode.ts';
import { LinkError } from '../../runtime/table/link-context.ts';
import type { FailOn, RefusedSwap, ReloadReport } from '../../schemas/built/operations/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import type { RecompileReport, RecompileRequest } from './recompile.ts';

/** The state of the configuration. The service gets it before the reloader, which updates it, exists. */
export interface ConfigState {
  /** Why the newest configuration is not in service; null if it is. */
  error: string | null;
  /** Names of the configuration's files. */
  files: readonly string[];
}

export interface ReloaderOptions {
  readonly context: CliContext;
  readonly state: ConfigState;
  readonly service: OperatedService;
  readonly log: Logger;
  readonly recompile: { readonly request: () => Promise<RecompileRequest>; readonly first: RecompileReport } | null;
}

export class Reloader {
  private readonly options: ReloaderOptions;
  private readonly recompiler: Recompiler | null;
  /** Unix ms of the last load without a command and without a gate. */
  private ungatedAt: number | null = null;

  constructor(options: ReloaderOptions) {
    const { recompile, context, service, log } = options;
    this.options = options;
    this.recompiler =
      recompile &&
      new Recompiler({
        request: recompile.request,
        clock: context.clock,
        thread: context.recompileThread,
        flushRequests: async () => (await service.requests()).list({}, { limit: 1 }),
        done: (report) => this.take(report),
        failed: (reason) => log.error({ reason }, 'the configuration cannot be compiled'),
      });
    if (recompile !== null) this.recompiler?.watch(recompile.first);
    if (recompile?.first.refused) this.refuse(recompile.first.refused);
  }

  /** As in `ConfigState`. */
  get error(): string | null {
    return this.options.state.error;
  }

  /** Compiles and loads now. @param failOn overrides the gate of the start @throws ControlError if the gateway serves compiled tables */
  async reload(failOn?: readonly FailOn[]): Promise<ReloadReport> {
    const { service } = this.options;
    if (failOn !== undefined && this.recompiler === null) {
      throw new ControlError(
        'refused',
        'the gateway serves compiled tables: --fail-on needs `gateway run` or `gateway start`',
      );
    }
    const { hash: before, loadedAt: was_loaded_at } = service.tableState;
    const report = (await this.recompiler?.compile(failOn)) ?? null;
    if (report === null) await service.reload(true);
    const { ungatedAt } = this;
    this.ungatedAt = null;
    const { hash, error } = service.tableState;
    return {
      ok: (report?.ok ?? true) && error === null,
      changed: hash !== before,
      was_loaded_at,
      hash,
      diagnostics: (report?.diagnostics ?? '') + (error === null ? '' : `${error}\n`),
      refused: report?.refused ?? null,
      taken_ungated_at: report?.gated === true ? ungatedAt : null,
    };
  }

  stop(): void {
    this.recompiler?.stop();
  }

  private refuse(refused: RefusedSwap): void {
    this.options.state.error = refusalText(refused);
    this.options.log.error(
      { ...refused },
      'the new table was rejected by --fail-on; the previous table stays in service',
    );
  }

  private async take(report: RecompileReport): Promise<void> {
    const { context, service, state, log } = this.options;
    const { ok, changed, problem, diagnostics, refused, gated } = report;
    state.files = report.files;
    if (refused !== null) return this.refuse(refused);
    if (ok && changed && !gated) this.ungatedAt = context.clock.now();
    // For people the frames follow the line; for programs they are a field of it.
    const forPeople = context.stderr.isTTY === true;
    const fields = forPeople || diagnostics === '' ? {} : { diagnostics };
    if (!ok)
      log.error({ reason: problem, ...fields }, 'the configuration has errors; the previous table stays in service');
    if (forPeople && diagnostics !== '') context.stderr.write(diagnostics);
    // An unchanged table is linked again, because secrets and lists outside it may have changed.
    if (ok) await service.reload(!changed);
    state.error = problem;
  }
}

export interface RecompilerContext {
  readonly request: () => Promise<RecompileRequest>;
  readonly clock: Clock;
  /** The entry file of the thread. */
  readonly thread: URL;
  /** Called before captured requests are read, to include the latest ones. */
  readonly flushRequests: () => Promise<unknown>;
  /** Called with each report, after the tables are written. */
  readonly done: (report: RecompileReport) => Promise<void> | void;
  readonly failed: (reason: string) => void;
}

/** Delay after the last change before a compile, in ms, because an editor saves in several steps. */
const QUIET_MS = 60;

/** Compiles on a separate thread, so that no request waits. Changes during a compile lead to one more compile. */
export class Recompiler {
  private readonly context: RecompilerContext;
  private timer: Timer | null = null;
  private running: Promise<RecompileReport> | null = null;
  private unwatch: () => void = () => {};
  private stopped = false;

  constructor(context: RecompilerContext) {
    this.context = context;
  }

  /** Watches the inputs that the report lists. */
  watch({ inputs }: RecompileReport): void {
    if (this.stopped) return;
    const before = this.unwatch;
    this.unwatch = watchInputs(inputs, () => this.changed());
    // The old watch still reports changes until here.
    this.context.clock.after(QUIET_MS, before);
  }

  /** Compiles the current files. @param failOn overrides the gate @throws Error if the thread fails, which is a bug */
  async compile(failOn?: RecompileRequest['failOn']): Promise<RecompileReport> {
    // A compile in progress may have read a file before it changed.
    while (this.running !== null) await this.running.catch(() => null);
    this.running = this.run(failOn);
    try {
      return await this.running;
    } finally {
      this.running = null;
    }
  }

  stop(): void {
    this.stopped = true;
    this.timer?.cancel();
    this.unwatch();
  }

  private changed(): void {
    this.timer?.cancel();
    this.timer = this.context.clock.after(QUIET_MS, () => {
      this.compile().catch((error: unknown) => this.context.failed(String(error)));
    });
  }

  private async run(failOn?: RecompileRequest['failOn']): Promise<RecompileReport> {
    const usual = await this.context.request();
    const request = failOn === undefined ? usual : { ...usual, failOn };
    if (request.failOn.length > 0) await this.context.flushRequests();
    const report = await compileOnThread(this.context.thread, request);
    this.watch(report);
    await this.context.done(report);
    return report;
  }
}

function compileOnThread(entry: URL, request: RecompileRequest): Promise<RecompileReport> {
  const thread = startEntry(entry, request);
  return new Promise((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
    thread.once('exit', () => reject(new Error('the compile ended without a report')));
    // Last, because listening for messages references the thread again. A gateway that stops does not wait for a compile.
    thread.unref();
  });
}

/**
 * Calls `changed` when one of the paths may have changed. Watches folders, never files: a file that is replaced by a
 * rename loses its watch. Other changes in those folders are ignored.
 * @returns a function that stops watching
 */
export function watchInputs(paths: readonly string[], changed: () => void): () => void {
  const watchers: FSWatcher[] = [];
  for (const [folder, inputs] of byFolder(paths)) {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name === null || concerns(inputs, join(folder, name))) changed();
      });
      watcher.on('error', () => watcher.close());
      watchers.push(watcher);
    } catch {
      // Changes in a folder that cannot be watched need `gateway reload`.
    }
  }
  return () => {
    for (const watcher of watchers) watcher.close();
  };
}

/** The inputs by their closest existing folder; a listed folder is an input of itself. */
function byFolder(paths: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>();
  const add = (folder: string, path: string): void => {
    const inputs = folders.get(folder) ?? new Set();
    folders.set(folder, inputs.add(path));
  };
  for (const path of paths) {
    if (isFolder(path)) add(path, path);
    let folder = dirname(path);
    while (!isFolder(folder) && dirname(folder) !== folder) folder = dirname(folder);
    add(folder, path);
  }
  return folders;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Temporary files that programs write beside a file. */
const PASSING = /(^\.|~$|\.(tmp|swp)$)/;

function concerns(inputs: ReadonlySet<string>, path: string): boolean {
  if (inputs.has(path)) return true;
  const folder = dirname(path);
  if (inputs.has(folder)) return !PASSING.test(path.slice(folder.length + 1));
  for (const input of inputs) if (input.startsWith(`${path}/`)) return true;
  return false;
}

const REFUSALS = [SecretError, LinkError, StoreDamaged];

/** Converts errors of the compiler, the commands and the store to control errors. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CliError) throw new ControlError('refused', [error.message, ...error.hints].join('; '));
    if (error instanceof StoreUnavailable) throw new ControlError('store_unavailable', error.message);
    if (REFUSALS.some((kind) => error instanceof kind)) throw new ControlError('refused', (error as Error).message);
    throw error;
  }
}

/** `the new table is rejected: 3 lost, 1 changed of 1000 captured requests`. */
export function refusalText({ total, lost, gained, changed }: RefusedSwap): string {
  const counts = [`${lost} lost`, `${gained} gained`, `${changed} changed`].filter((text) => !text.startsWith('0 '));
  return `the new table is rejected: ${counts.join(', ')} of ${total} captured ${total === 1 ? 'request' : 'requests'}`;
}
