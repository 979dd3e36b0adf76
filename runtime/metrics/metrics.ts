/** Interface of the module that counts the work of a service, for scrapers and charts. */
import type { AlertKind } from '../../schemas/generated/types.ts';
import { ControlError } from '../control/control-error.ts';
import type { DispatchObserver } from '../dispatch/dispatcher.ts';
import type { CountRequest } from '../intake/event-log.ts';
import type { CaptureCounts } from '../intake/keeper.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Store } from '../store/contract.ts';
import type { WaitCounts } from '../store/named-waits.ts';
import type { ShownTally } from '../store/queries.ts';

export interface Metrics {
  readonly observer: DispatchObserver;
  readonly onRequest: CountRequest;
  readonly onTableLoad: (ok: boolean) => void;
  /** Requests of routes since the start. */
  requestCount(): number;
  /** Stores the traffic of each minute, for charts. */
  recordFigures(context: FigureContext): FigureRecorder;
  /** The text for a scraper. */
  read(live: LiveFigures): Promise<MetricsText>;
}

export interface MetricsText {
  readonly content_type: string;
  readonly text: string;
}

export interface FigureRecorder {
  /** Stores what was counted until now. */
  store(): Promise<void>;
  /** Stores the unfinished minute, and stops. */
  end(): Promise<void>;
}

export interface FigureContext {
  readonly store: Pick<Store, 'read' | 'write'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Values at the moment of a scrape. */
export interface LiveFigures {
  /** Version of the program; empty: unknown. */
  readonly version: string;
  /** Number of tables served since the start. */
  readonly generation: number;
  readonly routes: number;
  readonly subscriptions: number;
  readonly quarantined: number;
  /** The routes in service: their counters used by alerts start at 0. Default: none. */
  readonly served?: readonly { readonly profile: string; readonly name: string }[];
  readonly capture: CaptureCounts;
  /** The kind of each active alert. */
  readonly alerts?: readonly AlertKind[];
  /** True if the store accepts new events. */
  readonly storeUp: boolean;
  /** Values from the store; null if it cannot be read. */
  readonly stored: StoredFigures | null;
}

export interface StoredFigures {
  /** Work by kind and stage, such as `runs_queued`. */
  readonly work: Readonly<Record<string, number>>;
  readonly tallies: readonly ShownTally[];
  readonly waits: WaitCounts;
  /** Age of the oldest unfinished dispatch in seconds; 0 if there is none. */
  readonly oldestOpenSeconds: number;
}

/** Used when no module provides metrics. */
export const NO_METRICS: Metrics = {
  observer: {},
  onRequest: () => {},
  onTableLoad: () => {},
  requestCount: () => 0,
  recordFigures: () => ({ store: async () => {}, end: async () => {} }),
  read: () => Promise.reject(new ControlError('refused', 'metrics need the module telemetry, which is not loaded')),
};
