/** The guard of a service: opened with the first table that tells somebody of something, or calls a heartbeat. */
import type { LastingAlert } from '../../schemas/built/operations/types.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { Guard, GuardContext } from '../dispatch/guard.ts';
import type { DispatchObserver } from '../dispatch/observer.ts';
import type { CountRequest } from '../intake/event-log.ts';
import type { RuntimePart } from '../module.ts';
import { TableError } from '../table/load.ts';

const NO_ALERTS: readonly LastingAlert[] = [];

export class Guarding {
  private readonly modules: readonly RuntimePart[];
  private context: GuardContext | null = null;
  private guard: Guard | null = null;
  private opening: Promise<void> | null = null;

  constructor(modules: readonly RuntimePart[]) {
    this.modules = modules;
  }

  readonly observer: DispatchObserver = {
    runEnded: (...of) => this.guard?.observer.runEnded?.(...of),
    runFailed: (...of) => this.guard?.observer.runFailed?.(...of),
    deliveryEnded: (...of) => this.guard?.observer.deliveryEnded?.(...of),
    jobTicked: (...of) => this.guard?.observer.jobTicked?.(...of),
    looped: (...of) => this.guard?.observer.looped?.(...of),
    overBudget: (...of) => this.guard?.observer.overBudget?.(...of),
  };

  readonly requested: CountRequest = ({ route, outcome, authentic }) => {
    if (route !== '')
      this.guard?.requested(route, outcome === 'invalid_signature' ? false : authentic === true ? true : null);
  };

  get lasting(): readonly LastingAlert[] {
    return this.guard?.lasting ?? NO_ALERTS;
  }

  /** As of a Guard, for what other parts of the service hear of; nothing where the table tells nobody. */
  readonly raise: Guard['raise'] = (...of) => this.guard?.raise(...of);
  readonly clear: Guard['clear'] = (of) => this.guard?.clear(of);

  readonly test: Guard['test'] = async () => (await this.guard?.test()) ?? null;

  /** Call once, before `prepare`. */
  connect(context: GuardContext): void {
    this.context = context;
  }

  /** Rejects with TableError when no module has a guard. */
  async prepare({ gateway: { alerts = null, heartbeat = null } }: RouteTable): Promise<void> {
    if (alerts === null && heartbeat === null) return;
    this.opening ??= this.load();
    await this.opening;
  }

  async close(): Promise<void> {
    await this.guard?.close();
  }

  private async load(): Promise<void> {
    const load = this.modules.find(({ guard }) => guard)?.guard;
    if (load === undefined || this.context === null)
      throw new TableError('no module of this program tells of failures');
    this.guard = (await load())(this.context);
  }
}
