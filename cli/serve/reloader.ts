/** Applies a changed configuration to a serving gateway: recompiles it if allowed, then reloads the table. */

import { ControlError } from '../../runtime/control/control-error.ts';
import type { FailOn, RefusedSwap, ReloadReport } from '../../runtime/control/operations.ts';
import type { Logger } from '../../runtime/platform/log.ts';
import type { OperatedService } from '../../runtime/service/options.ts';
import type { CliContext } from '../base/context.ts';
import type { RecompileReport, RecompileRequest } from './recompile.ts';
import { Recompiler } from './recompiler.ts';
import { refusalText } from './refusal-text.ts';

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
      recompile === null
        ? null
        : new Recompiler({
            request: recompile.request,
            clock: context.clock,
            thread: context.recompileThread,
            flushRequests: async () => (await service.requests()).list({}, { limit: 1 }),
            done: (report) => this.take(report),
            failed: (reason) => log.error({ reason }, 'the configuration cannot be compiled'),
          });
    if (recompile === null) return;
    this.recompiler?.watch(recompile.first);
    if (recompile.first.refused !== null) this.refuse(recompile.first.refused);
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
