/** The interface of a worker of the fuzz harness: the source of its cases, and the check of each. */
import type fc from 'fast-check';

/** A worker; `Case` is plain JSON, so that a case can be printed, stored in a file and run again. */
export interface FuzzWorker<Case> {
  /** Also the name of its corpus: `test/security/corpus/<name>.json`. */
  readonly name: string;
  readonly cases: fc.Arbitrary<Case>;
  /** Creates the environment of the cases. A harness opens a new bench for every round. */
  open(): Promise<Bench<Case>>;
}

export interface Bench<Case> {
  /** Maximum time, in ms, for which one case may block the event loop. */
  readonly longestMs: number;
  /** Number of cases that one counts for, if it contains several that run concurrently; default: 1. */
  readonly sizeOf?: (one: Case) => number;
  /** Rejects, or throws, if a promise is broken. */
  run(one: Case): Promise<void>;
  close(): Promise<void>;
}

/** The promise of `test/security/README.md`: no input blocks the event loop for longer, in ms. */
export const LOOP_MS = 100;

/** Collects resources to close, for helpers that expect a test. */
export class Closing {
  private readonly steps: (() => unknown)[] = [];

  readonly after = (step: () => unknown): void => {
    this.steps.push(step);
  };

  /** Closes the last one first. */
  async close(): Promise<void> {
    for (const step of this.steps.splice(0).reverse()) await step();
  }
}
