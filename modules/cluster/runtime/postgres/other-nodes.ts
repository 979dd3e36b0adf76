/**
 * Exchanges notifications of changes with other gateways. They only shorten waiting, because polling finds the same changes
 * a little later. Each node sends at most ten per second: a NOTIFY in each transaction would serialise the commits.
 */
import type { Clock, Timer } from '../../../../runtime/platform/clock.ts';
import type { MutationKind } from '../../../../runtime/store/mutations.ts';
import type { SharedChange } from '../../../../runtime/store/store.ts';
import type { SnapshotReader } from './snapshot.ts';

/** Time between two notifications, and between two polls with and without LISTEN, in ms. */
const NOTIFY_MS = 100;
const LISTENING_MS = 5000;
const POLL_MS = 1000;
/** Changes that may concern other gateways, and the notification for each. */
const NOTES: Partial<Record<MutationKind, SharedChange>> = {
  accept: 'work',
  join_group: 'work',
  flush_groups: 'work',
  advance: 'work',
  record_attempt: 'work',
  tick_job: 'work',
  fire_job: 'work',
  put_job: 'jobs',
  remove_job: 'jobs',
  pause_job: 'jobs',
  watch_job: 'jobs',
};

/** The channel for notifications of gateways and commands. */
export const channelOf = (schema: string): string => `hookwright ${schema}`;

/** The payload of a notification. @param node number of the gateway; 0: a command */
export const noteOf = (node: number, change: SharedChange): string =>
  change === 'work' ? `${node}` : `${node} ${change}`;

export interface OtherNodesParts {
  readonly reader: SnapshotReader;
  readonly clock: Clock;
  /** Null: use neither LISTEN nor NOTIFY. */
  readonly channel: string | null;
  /** This gateway's row in `node`. */
  readonly node: () => number;
}

export class OtherNodes {
  private readonly parts: OtherNodesParts;
  private readonly listeners: ((change: SharedChange) => void)[] = [];
  private pending: SharedChange = 'work';
  private sending: Timer | null = null;
  private poll: Timer | null = null;

  constructor(parts: OtherNodesParts) {
    this.parts = parts;
  }

  watch(listener: (change: SharedChange) => void): void {
    this.listeners.push(listener);
    if (this.poll === null) this.pollLater();
  }

  /** Notifies the others of a committed change, within a short time. */
  notify(kind: MutationKind): void {
    const { channel, clock, node } = this.parts;
    const change = NOTES[kind];
    if (channel === null || change === undefined) return;
    if (change === 'jobs') this.pending = change;
    this.sending ??= clock.after(NOTIFY_MS, () => {
      this.sending = null;
      void this.send('SELECT pg_notify($1, $2)', channel, noteOf(node(), this.pending));
      this.pending = 'work';
    });
  }

  /** Handles a notification. @param note see `noteOf` */
  notified(note: string): void {
    const [node, change] = note.split(' ');
    if (node !== String(this.parts.node())) this.emit(change === 'jobs' ? change : 'work');
  }

  /** Call when leases have expired and no gateway has taken over. */
  left(): void {
    this.emit('left');
  }

  close(): void {
    this.sending?.cancel();
    this.poll?.cancel();
    this.listeners.length = 0;
  }

  private emit(change: SharedChange): void {
    for (const listener of this.listeners) listener(change);
  }

  private pollLater(): void {
    const { clock, channel } = this.parts;
    this.poll = clock.after(channel === null ? POLL_MS : LISTENING_MS, () => {
      // Also detects a lost connection of the listener, and opens it again.
      if (channel !== null) void this.send('SELECT 1');
      this.emit('work');
      this.pollLater();
    });
  }

  private async send(sql: string, ...values: readonly string[]): Promise<void> {
    try {
      await (await this.parts.reader.open()).query(sql, values);
    } catch {
      // Ignored: the next poll finds the changes.
    }
  }
}
