/**
 * Recompiles the configuration of a serving gateway: on a thread of its own, so that no request waits for it, when a file
 * changes or a recompile is requested. Changes that come while it compiles lead to one more compile.
 */

import type { Clock, Timer } from '../../runtime/platform/clock.ts';
import { startEntry } from '../../runtime/platform/process/start-thread.ts';
import type { RecompileReport, RecompileRequest } from './recompile.ts';
import { watchInputs } from './watch-inputs.ts';

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
