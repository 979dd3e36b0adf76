/**
 * The subscriptions that gateways share. The database has them; each gateway keeps a copy as the file of its home, which
 * is taken in like any change of it, and which it goes on with while the database is away. Commands that change them
 * write here and there, under the lock of the file: so the copy never goes back to an older version.
 */
import { existsSync, readFileSync } from 'node:fs';
import { messageOf } from '../../base/message-of.ts';
import type { Clock, Timer } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Seal } from '../platform/secrets/seal.ts';
import { writeAtomic } from '../platform/write-atomic.ts';
import type { SharedDocuments } from '../store/shared-documents.ts';
import { openSubscriptions, SUBSCRIPTIONS } from './sealed-subscriptions.ts';

/** Between two looks at the version, in ms. */
const LOOK_MS = 500;

export interface CopyParts {
  readonly documents: SharedDocuments;
  /** Of the copy. */
  readonly path: string;
  readonly seal: Seal | null;
  /** Waits for the lock of the file. */
  readonly lock: () => Promise<{ release(): void }>;
}

/**
 * Brings the copy up to date. While the database has none, the home's file stays, and becomes the first version
 * with the next change.
 * @returns the version that the copy now has @throws (as a rejection) StoreUnavailable, or what keeps it from being written
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
  private told: string | null = null;
  private timer: Timer | null = null;
  private isStopped = false;

  constructor(parts: CopyParts, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.parts = parts;
    this.clock = clock;
    this.log = log;
  }

  /** Brings the copy up to date, and keeps it so. Settles after the first try. Never rejects. */
  async start(): Promise<void> {
    await this.look();
    if (!this.isStopped) this.timer = this.clock.after(LOOK_MS, () => void this.start());
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }

  private async look(): Promise<void> {
    try {
      const found = await this.parts.documents.version(SUBSCRIPTIONS);
      if (found !== this.version) this.version = await pullSubscriptions(this.parts);
      this.told = null;
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== this.told)
        this.log.warn({ reason }, 'the shared subscriptions cannot be read: those of before stay in service');
      this.told = reason;
    }
  }
}
