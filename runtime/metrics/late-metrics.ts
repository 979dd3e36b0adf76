/**
 * Metrics whose library is loaded once the gateway answers, so that a start does not wait for it. What happens before is
 * kept and counted then.
 */
import type { DispatchObserver } from '../dispatch/observer.ts';
import type { CountRequest } from '../intake/event-log.ts';
import type { LiveFigures, Metrics } from './metrics.ts';

/** The most events that are kept; a start takes a fraction of a second. */
const KEPT = 100_000;

export class LateMetrics {
  private metrics: Metrics | null = null;
  private loading: Promise<Metrics> | null = null;
  private kept: ((metrics: Metrics) => void)[] = [];

  readonly onRequest: CountRequest = (finished) => {
    if (this.metrics === null) this.keep((metrics) => metrics.onRequest(finished));
    else this.metrics.onRequest(finished);
  };

  readonly onTableLoad = (ok: boolean): void => this.tell((metrics) => metrics.onTableLoad(ok));

  readonly observer: DispatchObserver = {
    runEnded: (...run) => this.tell(({ observer }) => observer.runEnded?.(...run)),
    attemptEnded: (...attempt) => this.tell(({ observer }) => observer.attemptEnded?.(...attempt)),
    retryScheduled: (kind) => this.tell(({ observer }) => observer.retryScheduled?.(kind)),
    finished: (...dispatch) => this.tell(({ observer }) => observer.finished?.(...dispatch)),
  };

  /** Begins to count; `read` does so too. */
  load(): Promise<Metrics> {
    this.loading ??= this.start();
    return this.loading;
  }

  async read(live: LiveFigures): ReturnType<Metrics['read']> {
    return (await this.load()).read(live);
  }

  private async start(): Promise<Metrics> {
    const { createMetrics } = await import('./metrics.ts');
    const metrics = createMetrics();
    for (const count of this.kept) count(metrics);
    this.kept = [];
    this.metrics = metrics;
    return metrics;
  }

  private tell(count: (metrics: Metrics) => void): void {
    if (this.metrics === null) this.keep(count);
    else count(this.metrics);
  }

  private keep(count: (metrics: Metrics) => void): void {
    if (this.kept.length < KEPT) this.kept.push(count);
  }
}
