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
import { SignError } from '../../runtime/verify/sign-body.ts';
import type { FailOn, RefusedSwap, ReloadReport } from '../../schemas/built/operations/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import type { RecompileReport, RecompileRequest } from './recompile.ts';

/** What is known of the configuration. The service is told it before there is a reloader, which changes it. */
export interface ConfigState {
  /** Why the newest configuration is not the one being served; null when it is. */
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
  /** When a table was last loaded without a command and without a comparison, in Unix ms. */
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

  /** See ConfigState. */
  get error(): string | null {
    return this.options.state.error;
  }

  /** Compiles and loads now. @param failOn in place of what the gateway was started with @throws ControlError where nothing is compiled */
  async reload(failOn?: readonly FailOn[]): Promise<ReloadReport> {
    const { service } = this.options;
    if (failOn !== undefined && this.recompiler === null) {
      throw new ControlError(
        'refused',
        'it serves compiled tables and compiles none: --fail-on goes with `gateway run`',
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
      'the new table is refused for what it makes of kept requests: the old one stays in service',
    );
  }

  private async take(report: RecompileReport): Promise<void> {
    const { context, service, state, log } = this.options;
    const { ok, changed, errors, diagnostics, refused, gated } = report;
    state.files = report.files;
    if (refused !== null) return this.refuse(refused);
    if (ok && changed && !gated) this.ungatedAt = context.clock.now();
    state.error = ok ? null : `the configuration has ${errors} ${errors === 1 ? 'error' : 'errors'}`;
    // People read the frames below the line; programs get them in it.
    const forPeople = context.stderr.isTTY === true;
    const fields = forPeople || diagnostics === '' ? {} : { diagnostics };
    if (!ok) log.error({ errors, ...fields }, 'configuration has errors: the previous table stays in service');
    if (forPeople && diagnostics !== '') context.stderr.write(diagnostics);
    // When the table is the same, the secrets and lists beside it may have changed: it is linked anew.
    if (ok) await service.reload(!changed);
  }
}

export interface RecompilerContext {
  readonly request: () => Promise<RecompileRequest>;
  readonly clock: Clock;
  /** The entry of the thread. */
  readonly thread: URL;
  /** Called before kept requests are read, so that the latest ones are included. */
  readonly flushRequests: () => Promise<unknown>;
  /** Called with each report; the tables are written by then. */
  readonly done: (report: RecompileReport) => Promise<void> | void;
  readonly failed: (reason: string) => void;
}

/** Quiet time after a change before it is taken up, in ms: an editor saves in several steps. */
const QUIET_MS = 60;

/** Compiles on a thread of its own, so that no request waits for it. Changes that come meanwhile lead to one more compile. */
export class Recompiler {
  private readonly context: RecompilerContext;
  private timer: Timer | null = null;
  private running: Promise<RecompileReport> | null = null;
  private unwatch: () => void = () => {};
  private stopped = false;

  constructor(context: RecompilerContext) {
    this.context = context;
  }

  /** Watches the inputs of the tables, as the report lists them. */
  watch({ inputs }: RecompileReport): void {
    if (this.stopped) return;
    const before = this.unwatch;
    this.unwatch = watchInputs(inputs, () => this.changed());
    // The old watch still reports the latest changes.
    this.context.clock.after(QUIET_MS, before);
  }

  /** Compiles the files as they are now. @param failOn in place of the usual @throws Error when the thread fails, which is a bug. */
  async compile(failOn?: RecompileRequest['failOn']): Promise<RecompileReport> {
    // One that is under way may have read a file before it changed.
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
    // Last, because listening for messages references the thread again. A stopped gateway does not wait for a compile.
    thread.unref();
  });
}

/**
 * Calls `changed` when one of the paths may have changed. Folders are watched, never files: a file that is replaced by a
 * rename takes its watch with it. What else happens in those folders is ignored.
 * @returns the way to stop
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
      // A folder that cannot be watched: `gateway reload` applies its changes.
    }
  }
  return () => {
    for (const watcher of watchers) watcher.close();
  };
}

/** The inputs by the closest folder that exists; a folder that was listed is an input of itself. */
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

/** Files that writers keep beside a file while they write it. */
const PASSING = /(^\.|~$|\.(tmp|swp)$)/;

function concerns(inputs: ReadonlySet<string>, path: string): boolean {
  if (inputs.has(path)) return true;
  const folder = dirname(path);
  if (inputs.has(folder)) return !PASSING.test(path.slice(folder.length + 1));
  for (const input of inputs) if (input.startsWith(`${path}/`)) return true;
  return false;
}

const REFUSALS = [SecretError, SignError, LinkError, StoreDamaged];

/** What the compiler, the commands and the store refuse, as a refusal. */
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

/** `the new table is refused: 3 lost, 1 changed of 1000 kept requests`. */
export function refusalText({ total, lost, gained, changed }: RefusedSwap): string {
  const counts = [`${lost} lost`, `${gained} gained`, `${changed} changed`].filter((text) => !text.startsWith('0 '));
  return `the new table is refused: ${counts.join(', ')} of ${total} kept ${total === 1 ? 'request' : 'requests'}`;
}
