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
/** Changes that may give another gateway something to do, and what is sent to it. */
const TOLD: Partial<Record<MutationKind, SharedChange>> = {
  ...{ accept: 'work', join_group: 'work', flush_groups: 'work', advance: 'work', record_attempt: 'work' },
  ...{ tick_job: 'work', fire_job: 'work', put_job: 'jobs', remove_job: 'jobs', pause_job: 'jobs', watch_job: 'jobs' },
};

/** Where gateways and commands tell of their changes. */
export const channelOf = (schema: string): string => `hookwright ${schema}`;

/** What is told there. @param node number of the gateway; 0: a command */
export const noteOf = (node: number, change: SharedChange): string =>
  change === 'work' ? `${node}` : `${node} ${change}`;

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
  private readonly listeners: ((change: SharedChange) => void)[] = [];
  private untold: SharedChange = 'work';
  private telling: Timer | null = null;
  private poll: Timer | null = null;

  constructor(parts: OtherNodesParts) {
    this.parts = parts;
  }

  watch(listener: (change: SharedChange) => void): void {
    this.listeners.push(listener);
    if (this.poll === null) this.pollLater();
  }

  /** A change of this gateway was committed. */
  tell(kind: MutationKind): void {
    const { channel, clock, node } = this.parts;
    const change = TOLD[kind];
    if (channel === null || change === undefined) return;
    if (change === 'jobs') this.untold = change;
    this.telling ??= clock.after(NOTIFY_MS, () => {
      this.telling = null;
      void this.send('SELECT pg_notify($1, $2)', channel, noteOf(node(), this.untold));
      this.untold = 'work';
    });
  }

  /** @param note see `noteOf` */
  notified(note: string): void {
    const [node, change] = note.split(' ');
    if (node !== String(this.parts.node())) this.hear(change === 'jobs' ? change : 'work');
  }

  /** Leases have expired, and no gateway has taken over. */
  left(): void {
    this.hear('left');
  }

  close(): void {
    this.telling?.cancel();
    this.poll?.cancel();
    this.listeners.length = 0;
  }

  private hear(change: SharedChange): void {
    for (const listener of this.listeners) listener(change);
  }

  private pollLater(): void {
    const { clock, channel } = this.parts;
    this.poll = clock.after(channel === null ? POLL_MS : LISTENING_MS, () => {
      // Also finds out whether the connection that listens is still there, and makes it again.
      if (channel !== null) void this.send('SELECT 1');
      this.hear('work');
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
