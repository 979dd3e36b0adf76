/**
 * The subscriptions that gateways share. They are stored in the database. Each gateway keeps a copy in the file of its
 * home: it loads changes of the copy like any change of that file, and uses it while the database is unavailable.
 * Commands write both under the lock of the file, so that the copy never reverts to an older version.
 */
import { existsSync, readFileSync } from 'node:fs';
import { messageOf } from '../../../base/message-of.ts';
import type { Clock, Timer } from '../../../runtime/platform/clock.ts';
import type { Logger } from '../../../runtime/platform/log.ts';
import { writeAtomic } from '../../../runtime/platform/write-atomic.ts';
import type { SharedDocuments } from '../../../runtime/store/shared.ts';
import type { RefusedRows } from './refused-rows.ts';
import type { Seal } from './seal.ts';
import type { OpenedSubscriptions } from './sealed-subscriptions.ts';
import { InvalidSubscriptions, openSubscriptions, SUBSCRIPTIONS } from './sealed-subscriptions.ts';

/** How often the version is polled, in ms. */
const POLL_MS = 500;

export interface CopyParts {
  readonly documents: SharedDocuments;
  /** Path of the copy. */
  readonly path: string;
  readonly seal: Seal | null;
  /** Waits for the lock of the file. */
  readonly lock: () => Promise<{ release(): void }>;
}

export type Pulled = Omit<OpenedSubscriptions, 'text'> & { readonly version: number };

/**
 * Updates the copy. While the database has no subscriptions, the home's file stays, and becomes the first version with the
 * next change. Rejects with StoreUnavailable, InvalidSubscriptions, or the error of writing the file.
 * @param isGateway false: for a command, which must not replace secrets that the gateway could decrypt with encrypted ones
 */
export async function pullSubscriptions(
  { documents, path, seal, lock }: CopyParts,
  isGateway: boolean,
): Promise<Pulled> {
  const held = await lock();
  try {
    const { version, text } = await documents.read(SUBSCRIPTIONS);
    if (version === 0) return { version, sealed: new Set(), problem: null };
    const { text: opened, sealed, problem } = openSubscriptions(text, seal);
    const copy = existsSync(path) ? readFileSync(path, 'utf8') : null;
    const isKept = copy !== null && sealed.size > 0 && !isGateway;
    if (copy !== opened && !isKept) writeAtomic(path, opened, 0o600);
    return { version, sealed, problem };
  } finally {
    held.release();
  }
}

interface SubscriptionsContext {
  readonly clock: Clock;
  readonly log: Logger;
  readonly refused: RefusedRows;
}

export class SharedSubscriptions {
  private readonly parts: CopyParts;
  private readonly clock: Clock;
  private readonly log: Logger;
  private readonly refused: RefusedRows;
  /** Null until the subscriptions have been read. */
  private pulled: Pulled | null = null;
  private loggedReason: string | null = null;
  private timer: Timer | null = null;
  private isStopped = false;

  constructor(parts: CopyParts, { clock, log, refused }: SubscriptionsContext) {
    this.parts = parts;
    this.clock = clock;
    this.log = log;
    this.refused = refused;
  }

  /** Updates the copy, and keeps it up to date. Resolves after the first try. Never rejects. */
  async start(): Promise<void> {
    await this.poll();
    if (!this.isStopped) this.timer = this.clock.after(POLL_MS, () => void this.start());
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  /**
   * Whether other gateways may serve the path although this one does not: the subscriptions have not been read yet, or a
   * secret of this one cannot be decrypted here.
   */
  isPending(path: string): boolean {
    return this.pulled === null || this.pulled.sealed.has(path.slice(path.lastIndexOf('/') + 1));
  }

  private async poll(): Promise<void> {
    try {
      const found = await this.parts.documents.version(SUBSCRIPTIONS);
      if (found !== this.pulled?.version) {
        this.pulled = await pullSubscriptions(this.parts, true);
        this.refused.note('subscriptions', this.pulled.problem);
      }
      this.loggedReason = null;
    } catch (error) {
      const reason = messageOf(error).replaceAll('\n', '; ');
      if (error instanceof InvalidSubscriptions) this.refused.note('subscriptions', reason);
      if (reason !== this.loggedReason)
        this.log.warn({ reason }, 'the shared subscriptions cannot be read: the previous ones stay in service');
      this.loggedReason = reason;
    }
  }
}
