/**
 * What this gateway hears of the others. A notification only shortens waiting, at most ten a second from each node: in
 * each transaction it would serialise their commits. Polling finds the same a little later.
 */
import type { Clock, Timer } from '../../platform/clock.ts';
import type { MutationKind } from '../mutations.ts';
import type { SharedChange } from '../store.ts';
import type { SnapshotReader } from './snapshot.ts';

/** Between two notifications, and between two polls with and without them, in ms. */
const NOTIFY_MS = 100;
const LISTENING_MS = 5000;
const POLL_MS = 1000;
/** Changes behind which another gateway may find something to do. */
const TOLD: ReadonlySet<MutationKind> = new Set([
  ...(['accept', 'join_group', 'flush_groups', 'tick_job', 'fire_job', 'advance', 'record_attempt'] as const),
]);

/** Where gateways and commands tell of their changes; the payload is the number of the node. */
export const channelOf = (schema: string): string => `hookwright ${schema}`;

export interface OtherNodesParts {
  readonly reader: SnapshotReader;
  readonly clock: Clock;
  /** Null: neither LISTEN nor NOTIFY. */
  readonly channel: string | null;
  /** This gateway's row in `node`. */
  readonly node: () => number;
}

export class OtherNodes {
  private readonly parts: OtherNodesParts;
  private listener: (change: SharedChange) => void = () => {};
  private telling: Timer | null = null;
  private poll: Timer | null = null;

  constructor(parts: OtherNodesParts) {
    this.parts = parts;
  }

  watch(listener: (change: SharedChange) => void): void {
    this.listener = listener;
    if (this.poll === null) this.pollLater();
  }

  /** A change of this gateway was committed. */
  tell(kind: MutationKind): void {
    const { channel, clock, node } = this.parts;
    if (channel === null || this.telling !== null || !TOLD.has(kind)) return;
    this.telling = clock.after(NOTIFY_MS, () => {
      this.telling = null;
      void this.send('SELECT pg_notify($1, $2)', channel, String(node()));
    });
  }

  /** @param payload the node that has sent it */
  notified(payload: string): void {
    if (payload !== String(this.parts.node())) this.listener('work');
  }

  /** Leases have expired, and no gateway has taken over. */
  left(): void {
    this.listener('left');
  }

  close(): void {
    this.telling?.cancel();
    this.poll?.cancel();
    this.listener = () => {};
  }

  private pollLater(): void {
    const { clock, channel } = this.parts;
    this.poll = clock.after(channel === null ? POLL_MS : LISTENING_MS, () => {
      // Also finds out whether the connection that listens is still there, and makes it again.
      if (channel !== null) void this.send('SELECT 1');
      this.listener('work');
      this.pollLater();
    });
  }

  private async send(sql: string, ...values: readonly string[]): Promise<void> {
    try {
      await (await this.parts.reader.open()).query(sql, values);
    } catch {
      // Nothing depends on it: the next poll comes.
    }
  }
}
