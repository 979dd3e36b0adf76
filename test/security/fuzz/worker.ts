/** What a worker of the fuzz harness is: where its cases come from, and what must hold for each of them. */
import type fc from 'fast-check';

/** A worker; `Case` is plain JSON, so that a case can be printed, kept in a file and run again. */
export interface FuzzWorker<Case> {
  /** Also the name of its corpus: `test/security/corpus/<name>.json`. */
  readonly name: string;
  readonly cases: fc.Arbitrary<Case>;
  /** Makes what the cases run against. A harness opens a new bench for every round. */
  open(): Promise<Bench<Case>>;
}

export interface Bench<Case> {
  /** Longest time, in ms, for which one case may hold the event loop. */
  readonly longestMs: number;
  /** How many a case counts for, where it holds several that run beside each other; default: 1. */
  readonly sizeOf?: (one: Case) => number;
  /** Rejects, or throws, when something that is promised does not hold. */
  run(one: Case): Promise<void>;
  close(): Promise<void>;
}

/** The promise of `test/security/README.md`: no input holds the event loop for longer, in ms. */
export const LOOP_MS = 100;

/** Adds up what is to be closed, for helpers that expect a test. */
export class Closing {
  private readonly steps: (() => unknown)[] = [];

  readonly after = (step: () => unknown): void => {
    this.steps.push(step);
  };

  /** The last comes first. */
  async close(): Promise<void> {
    for (const step of this.steps.splice(0).reverse()) await step();
  }
}
