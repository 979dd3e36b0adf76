/**
 * Runs one worker of the fuzz harness in rounds of cases, each with its own seed and bench, until time or count are used up. A
 * failing case is shrunk, repeated alone, and reported with the seed of its round.
 */
import fc from 'fast-check';
import type { CorpusEntry } from './corpus.ts';
import { LoopHeld, runWithinLoop } from './loop-delay.ts';
import { Watchdog } from './watchdog.ts';
import type { Bench, FuzzWorker } from './worker.ts';

export interface FuzzLimits {
  /** Seed of the first round; the next ones count up from it. */
  readonly seed: number;
  readonly maxCases: number;
  readonly maxMs: number;
}

export interface Finding {
  readonly worker: string;
  /** Seed of the round, with which `npm run fuzz` runs the same cases again. */
  readonly seed: number;
  readonly reason: string;
  /** The smallest failing case. */
  readonly case: unknown;
  /** True if it also fails alone, on a new bench. */
  readonly alone: boolean;
}

export interface FuzzReport {
  readonly worker: string;
  readonly cases: number;
  readonly rounds: number;
  /** One finding for each different reason. */
  readonly findings: readonly Finding[];
}

const CASES_PER_ROUND = 500;
/** Maximum time to shrink one failing case, in ms. */
const SHRINK_MS = 20_000;
/** Timeout of a case, in ms. */
const CASE_MS = 30_000;

/** @param tell called with each new finding, immediately, because a later case may end the process */
export async function runWorker<Case>(
  worker: FuzzWorker<Case>,
  { seed, maxCases, maxMs }: FuzzLimits,
  tell: (finding: Finding) => void = () => {},
): Promise<FuzzReport> {
  const until = performance.now() + maxMs;
  const findings = new Map<string, Finding>();
  const runner = new Runner(worker);
  let [cases, rounds] = [0, 0];
  try {
    for (; cases < maxCases && performance.now() < until; rounds++) {
      const finding = await runner.round(seed + rounds, Math.min(CASES_PER_ROUND, maxCases - cases), until);
      cases = runner.cases;
      if (finding === null || findings.has(classOf(finding.reason))) continue;
      findings.set(classOf(finding.reason), finding);
      tell(finding);
    }
  } finally {
    await runner.close();
  }
  return { worker: worker.name, cases, rounds, findings: [...findings.values()] };
}

/** Runs cases on a new bench. @throws the failure of the first case that fails, by its name */
export async function runAll<Case>(worker: FuzzWorker<Case>, entries: readonly CorpusEntry[]): Promise<void> {
  const runner = new Runner(worker);
  const bench = await worker.open();
  try {
    for (const { what, case: one } of entries) {
      try {
        await runner.run(bench, one as Case);
      } catch (error) {
        throw new Error(`${what}: ${reasonOf(error)}`);
      }
    }
  } finally {
    await bench.close();
    await runner.close();
  }
}

/** Reasons that differ only in numbers and quoted text are one finding. */
const classOf = (reason: string): string =>
  reason
    .split('\n', 1)[0]
    ?.replace(/\d+|"[^"]*"|'[^']*'|`[^`]*`/g, '·')
    .slice(0, 160) ?? '';

class Runner<Case> {
  /** Number of generated cases; those of shrinking do not count. */
  cases = 0;
  private readonly worker: FuzzWorker<Case>;
  private readonly watchdog = new Watchdog(CASE_MS);
  /** Uncaught errors since the start of the case. */
  private readonly uncaught: unknown[] = [];
  private readonly onUncaught = (error: unknown): void => void this.uncaught.push(error);

  constructor(worker: FuzzWorker<Case>) {
    this.worker = worker;
    process.on('unhandledRejection', this.onUncaught);
    process.on('uncaughtException', this.onUncaught);
  }

  async close(): Promise<void> {
    process.off('unhandledRejection', this.onUncaught);
    process.off('uncaughtException', this.onUncaught);
    await this.watchdog.close();
  }

  async round(seed: number, numRuns: number, until: number): Promise<Finding | null> {
    const bench = await this.worker.open();
    let failedAt: number | null = null;
    const property = fc.asyncProperty(this.worker.cases, async (one) => {
      if (performance.now() > (failedAt === null ? until : failedAt + SHRINK_MS)) return;
      if (failedAt === null) this.cases += bench.sizeOf?.(one) ?? 1;
      try {
        await this.run(bench, one);
      } catch (error) {
        failedAt ??= performance.now();
        throw error;
      }
    });
    try {
      const interruptAfterTimeLimit = Math.max(1, until - performance.now()) + SHRINK_MS;
      const result = await fc.check(property, { seed, numRuns, interruptAfterTimeLimit });
      if (!result.failed || result.counterexample === null) return null;
      const [one] = result.counterexample;
      const reason = reasonOf(result.errorInstance);
      return { worker: this.worker.name, seed, reason, case: one, alone: await this.failsAlone(one) };
    } finally {
      await bench.close();
    }
  }

  /** @throws the failure of the case */
  async run(bench: Bench<Case>, one: Case): Promise<void> {
    this.uncaught.length = 0;
    this.watchdog.begin(`${this.worker.name} ${JSON.stringify(one)}`);
    try {
      await runWithinLoop(() => within(bench.run(one)), bench.longestMs);
    } finally {
      this.watchdog.end();
    }
    const [first] = this.uncaught;
    if (first !== undefined) throw new Error(`unhandled: ${reasonOf(first)}`);
  }

  private async failsAlone(one: Case): Promise<boolean> {
    const bench = await this.worker.open();
    try {
      await this.run(bench, one);
      return false;
    } catch {
      return true;
    } finally {
      await bench.close();
    }
  }
}

/** @throws Error if the case does not end */
async function within(run: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the case has not ended after ${(CASE_MS - 5000) / 1000} s`)),
      CASE_MS - 5000,
    );
  });
  try {
    await Promise.race([run, late]);
  } finally {
    clearTimeout(timer);
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof LoopHeld ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
