/**
 * Metrics whose library is loaded after the gateway has started, so that the start does not wait for it. Until then, what
 * is to be counted is buffered.
 */
import type { DispatchObserver } from '../dispatch/observer.ts';
import type { CountRequest } from '../intake/event-log.ts';
import type { LiveFigures, Metrics } from './metrics.ts';

/** Most counts that are buffered; a start takes a fraction of a second. */
const MAX_BUFFERED = 100_000;

export class LateMetrics {
  private metrics: Metrics | null = null;
  private loading: Promise<Metrics> | null = null;
  private buffered: ((metrics: Metrics) => void)[] = [];

  readonly onRequest: CountRequest = (finished) => {
    if (this.metrics === null) this.buffer((metrics) => metrics.onRequest(finished));
    else this.metrics.onRequest(finished);
  };

  readonly onTableLoad = (ok: boolean): void => this.count((metrics) => metrics.onTableLoad(ok));

  readonly observer: DispatchObserver = {
    runEnded: (...run) => this.count(({ observer }) => observer.runEnded?.(...run)),
    attemptEnded: (...attempt) => this.count(({ observer }) => observer.attemptEnded?.(...attempt)),
    retryScheduled: (kind) => this.count(({ observer }) => observer.retryScheduled?.(kind)),
    finished: (...dispatch) => this.count(({ observer }) => observer.finished?.(...dispatch)),
  };

  /** Loads the library; `read` does so too. */
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
    for (const add of this.buffered) add(metrics);
    this.buffered = [];
    this.metrics = metrics;
    return metrics;
  }

  private count(add: (metrics: Metrics) => void): void {
    if (this.metrics === null) this.buffer(add);
    else add(this.metrics);
  }

  private buffer(add: (metrics: Metrics) => void): void {
    if (this.buffered.length < MAX_BUFFERED) this.buffered.push(add);
  }
}
