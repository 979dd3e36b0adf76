/** Interface of the console module: a second listener for operators, supervisors and collectors. */
import type { ConsolePlan } from '../../schemas/generated/types.ts';
import type { ControlHandlers } from '../control/operations.ts';
import type { CaptureCounts } from '../intake/keeper.ts';
import type { Connections } from '../intake/server.ts';
import type { UnverifiedBodies } from '../intake/unverified-bodies.ts';
import type { Metrics, MetricsText } from '../metrics/metrics.ts';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Store } from '../store/contract.ts';
import type { Credential } from '../table/link-people.ts';
import type { Readiness } from './status.ts';

export interface ConsoleContext {
  readonly plan: ConsolePlan;
  /** Who may use it, from the table in service. */
  readonly people: () => readonly Credential[];
  /** Any program on this machine may read and change everything: there was no token when it was opened, and there is none. */
  readonly isOpen: () => boolean;
  readonly readiness: () => Readiness;
  /** Prometheus text. Rejects when the store cannot be read. */
  readonly metrics: () => Promise<MetricsText>;
  /** Requests of routes since the start. */
  readonly requestCount: () => number;
  /** See `Metrics`. Called once. */
  readonly recordFigures: Metrics['recordFigures'];
  /** Numbers of captured and uncaptured requests since the start. */
  readonly kept: () => CaptureCounts;
  readonly store: Pick<Store, 'read' | 'write'>;
  /** The operations of the control socket; null: the program has none. */
  readonly operations: ControlHandlers | null;
  readonly connections: Connections;
  /** The memory for bodies of strangers, shared with the public server. */
  readonly bodies: Pick<UnverifiedBodies, 'read' | 'release'>;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Console {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens; called once. Rejects with ListenError when the address cannot be bound. */
export type OpenConsole = (context: ConsoleContext) => Promise<Console>;
