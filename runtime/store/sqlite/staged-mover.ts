/** Decides when the writer moves what is staged into its tables: beside the batches, and all of it once none come. */
import type { Transactions } from './commit.ts';

/** Dispatches that stay staged while batches come: most of them end meanwhile, and are written once then. */
const KEPT = 128;
/** Dispatches of one transaction at least: a batch that arrives meanwhile waits for it. */
const SLICE = 64;
/** Without a batch for so long, in ms, everything is moved. */
const IDLE_MS = 20;
/** After a refusal of the medium, in ms. */
const RETRY_MS = 1000;

export class StagedMover {
  private readonly transactions: Transactions;
  /** A look at what is staged is due. */
  private due = false;
  private idle: NodeJS.Timeout | null = null;

  constructor(transactions: Transactions) {
    this.transactions = transactions;
  }

  /** After each batch. Batches that are there already go first. */
  committed(): void {
    if (!this.transactions.hasStaged) return;
    if (!this.due) {
      this.due = true;
      setImmediate(this.onTurn);
    }
    this.wait(IDLE_MS);
  }

  /** Moves everything, as far as the medium takes it. */
  moveAll(): void {
    this.stopWaiting();
    while (this.transactions.hasStaged && this.transactions.moveStaged(SLICE) === null);
  }

  private readonly onTurn = (): void => {
    this.due = false;
    const surplus = this.transactions.staged - KEPT;
    if (surplus > 0) this.transactions.moveStaged(Math.max(SLICE, surplus / 2));
  };

  private readonly onIdle = (): void => {
    if (!this.transactions.hasStaged) return;
    this.wait(this.transactions.moveStaged(SLICE) === null ? 0 : RETRY_MS);
  };

  private wait(ms: number): void {
    this.stopWaiting();
    this.idle = setTimeout(this.onIdle, ms);
  }

  private stopWaiting(): void {
    if (this.idle !== null) clearTimeout(this.idle);
    this.idle = null;
  }
}
