/** Decides when the writer moves what is staged into its tables: beside the batches, and before it gets old. */
import type { Transactions } from './commit.ts';

/** Dispatches that stay staged while batches come: most of them end meanwhile, and are written once then. */
const KEPT = 128;
/** Dispatches of one transaction at least: a batch that arrives meanwhile waits for it. */
const SLICE = 64;
/** How long, in ms, anything stays staged. */
const AGE_MS = 50;
/** After a refusal of the medium, in ms. */
const RETRY_MS = 1000;

export class StagedMover {
  private readonly transactions: Transactions;
  /** A look at what is staged is due. */
  private due = false;
  private timer: NodeJS.Timeout | null = null;
  private ended = false;

  constructor(transactions: Transactions) {
    this.transactions = transactions;
  }

  /** After each batch. Batches that are there already go first. */
  committed(): void {
    if (!this.transactions.staging.hasStaged) return;
    this.wait(AGE_MS);
    if (this.due) return;
    this.due = true;
    setImmediate(this.onTurn);
  }

  /** Moves everything, as far as the medium takes it. */
  moveAll(): void {
    const { transactions } = this;
    while (transactions.staging.hasStaged && transactions.moveStaged(SLICE) === null);
  }

  /** Moves everything, and nothing more. */
  end(): void {
    this.ended = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.moveAll();
  }

  private readonly onTurn = (): void => {
    this.due = false;
    const surplus = this.transactions.staging.size - KEPT;
    if (surplus > 0 && !this.ended) this.transactions.moveStaged(Math.max(SLICE, surplus / 2));
  };

  private readonly onAge = (): void => {
    this.timer = null;
    this.moveOld(this.transactions.staging.size);
  };

  /** Moves the oldest `left` dispatches, with batches between; what has come meanwhile has its own time. */
  private moveOld(left: number): void {
    const { staging } = this.transactions;
    if (this.ended || !staging.hasStaged) return;
    if (this.transactions.moveStaged(SLICE) !== null) this.wait(RETRY_MS);
    else if (left > SLICE) setImmediate(() => this.moveOld(left - SLICE));
    else if (staging.hasStaged) this.wait(AGE_MS);
  }

  /** Unless it waits already. */
  private wait(ms: number): void {
    this.timer ??= setTimeout(this.onAge, ms);
  }
}
