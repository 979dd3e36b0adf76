/**
 * The subscriptions that gateways share. They are stored in the database. Each gateway keeps a copy in the file of its
 * home: it loads changes of the copy like any change of that file, and uses it while the database is unavailable.
 * Commands write both under the lock of the file, so that the copy never reverts to an older version.
 */
import { existsSync, readFileSync } from 'node:fs';
import { messageOf } from '../../base/message-of.ts';
import type { Clock, Timer } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Seal } from '../platform/secrets/seal.ts';
import { writeAtomic } from '../platform/write-atomic.ts';
import type { SharedDocuments } from '../store/shared-documents.ts';
import { openSubscriptions, SUBSCRIPTIONS } from './sealed-subscriptions.ts';

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

/**
 * Updates the copy and returns its version. While the database has no subscriptions, the home's file stays, and becomes
 * the first version with the next change. Rejects with StoreUnavailable, or with the error of writing the file.
 */
export async function pullSubscriptions({ documents, path, seal, lock }: CopyParts): Promise<number> {
  const held = await lock();
  try {
    const { version, text } = await documents.read(SUBSCRIPTIONS);
    if (version > 0) {
      const opened = openSubscriptions(text, seal);
      if (!existsSync(path) || readFileSync(path, 'utf8') !== opened) writeAtomic(path, opened, 0o600);
    }
    return version;
  } finally {
    held.release();
  }
}

export class SharedSubscriptions {
  private readonly parts: CopyParts;
  private readonly clock: Clock;
  private readonly log: Logger;
  private version = 0;
  private loggedReason: string | null = null;
  private timer: Timer | null = null;
  private isStopped = false;

  constructor(parts: CopyParts, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.parts = parts;
    this.clock = clock;
    this.log = log;
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

  private async poll(): Promise<void> {
    try {
      const found = await this.parts.documents.version(SUBSCRIPTIONS);
      if (found !== this.version) this.version = await pullSubscriptions(this.parts);
      this.loggedReason = null;
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== this.loggedReason)
        this.log.warn({ reason }, 'the shared subscriptions cannot be read: those of before stay in service');
      this.loggedReason = reason;
    }
  }
}
