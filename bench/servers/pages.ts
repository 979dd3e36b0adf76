/**
 * Simulates pages of the console: each listens to the live stream, and reloads its view with every event of it. A
 * separate process, as a browser is. `{ open: n }` opens pages; `{ open: 0 }` closes all and reports.
 */
import { percentile } from '../harness/stats.ts';

export interface PagesReport {
  /** Events of the stream, on all pages. */
  readonly events: number;
  /** Requests that the stream reported, on the page with the most. */
  readonly came: number;
  /** Loaded views. */
  readonly loads: number;
  /** Views that did not return 200. */
  readonly failed: number;
  /** Time of a load, in ms, as the page sees it. */
  readonly median: number;
  readonly p99: number;
}

/** The requests of each view of modules/console/pages/views. */
const VIEWS = [
  ['/api/overview', '/api/figures?span=day'],
  ['/api/requests?limit=50'],
  ['/api/deliveries?limit=50'],
  ['/api/sessions?limit=100&profile=default'],
  ['/api/routes?limit=200'],
] as const;

const { url } = JSON.parse(process.argv[2] ?? '{}') as { readonly url: string };

class Page {
  readonly leave = new AbortController();
  readonly times: number[] = [];
  events = 0;
  came = 0;
  failed = 0;
  private readonly paths: readonly string[];

  constructor(paths: readonly string[]) {
    this.paths = paths;
  }

  /** Resolves when the stream has started. */
  async open(): Promise<void> {
    const { signal } = this.leave;
    const { body } = await fetch(`${url}/api/events`, { signal });
    if (body === null) throw new Error('the stream has no body');
    this.load();
    void this.follow(body.pipeThrough(new TextDecoderStream())).catch(() => {});
  }

  private async follow(stream: ReadableStream<string>): Promise<void> {
    let text = '';
    for await (const chunk of stream) {
      const [...whole] = `${text}${chunk}`.split('\n\n');
      text = whole.pop() ?? '';
      for (const each of whole.filter((one) => one.startsWith('data: '))) {
        this.events++;
        this.came += (JSON.parse(each.slice(6)) as { readonly came: number }).came;
        this.load();
      }
    }
  }

  private load(): void {
    for (const path of this.paths) {
      const began = performance.now();
      fetch(url + path, { signal: this.leave.signal }).then(
        async (response) => {
          await response.json();
          this.times.push(performance.now() - began);
          if (response.status !== 200) this.failed++;
        },
        () => {
          if (!this.leave.signal.aborted) this.failed++;
        },
      );
    }
  }
}

let pages: Page[] = [];

function close(): PagesReport {
  for (const { leave } of pages) leave.abort();
  const sorted = Float64Array.from(pages.flatMap(({ times }) => times)).sort();
  const sum = (of: 'events' | 'failed'): number => pages.reduce((all, page) => all + page[of], 0);
  const report = {
    events: sum('events'),
    failed: sum('failed'),
    came: Math.max(0, ...pages.map(({ came }) => came)),
    loads: sorted.length,
    median: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
  };
  pages = [];
  return report;
}

process.on('message', async ({ open }: { readonly open: number }) => {
  if (open === 0) {
    process.send?.(close());
    return;
  }
  pages = Array.from({ length: open }, (_, at) => new Page(VIEWS[at % VIEWS.length] ?? []));
  await Promise.all(pages.map((page) => page.open()));
  process.send?.({});
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
