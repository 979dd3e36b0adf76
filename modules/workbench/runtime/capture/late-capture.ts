/** Loads the code that keeps requests when it is first needed, to keep a request or to read kept ones. */
import { messageOf } from '../../../../base/message-of.ts';
import type { KeepRequest } from '../../../../runtime/intake/keep-request.ts';
import type { RequestRows } from '../../../../runtime/store/request-rows.ts';
import type { Capture, CaptureContext } from './capture.ts';
import type { CaptureCounts } from './capture-counts.ts';
import { createCaptureCounts } from './capture-counts.ts';
import { capturePath } from './capture-path.ts';
import type { KeptRequests } from './kept-request.ts';

/** Most requests that wait while it is loaded, which takes about 10 ms. */
const MOST_EARLY = 100;

export class LateCapture {
  readonly counts: CaptureCounts = createCaptureCounts();
  private readonly home: string;
  private readonly context: Omit<CaptureContext, 'writer' | 'reader' | 'counts' | 'place'> & {
    /** The rows of a shared database; null: requests are kept in a file. Called when the first one is kept. */
    readonly rows: () => RequestRows | null;
  };
  private room: Capture | null = null;
  private loading: Promise<Capture> | null = null;
  private early: Parameters<KeepRequest>[] = [];

  constructor(home: string, context: LateCapture['context']) {
    this.home = home;
    this.context = context;
  }

  readonly keep: KeepRequest = (intake, reply, replayOf = null) => {
    if (intake.route.plan.capture === 'none') return null;
    if (this.room !== null) return this.room.take(intake, reply, replayOf);
    if (this.early.length < MOST_EARLY) this.early.push([intake, reply, replayOf]);
    else this.counts.dropped.queue++;
    void this.load();
    return null;
  };

  async requests(): Promise<KeptRequests> {
    return (await this.load()).requests;
  }

  /** Loads it if any route keeps requests, so that expired ones are removed even if none arrive. */
  start(): void {
    const { gateway, routes } = this.context.table();
    const isWanted = gateway.capture !== 'none' || Object.values(routes).some(({ capture }) => capture !== 'none');
    if (isWanted) void this.load();
  }

  async close(): Promise<void> {
    const room = await this.loading?.catch(() => null);
    await room?.close();
  }

  private load(): Promise<Capture> {
    if (this.loading !== null) return this.loading;
    this.loading = this.open();
    this.loading.catch((error: unknown) =>
      this.context.log.error({ reason: messageOf(error) }, 'requests cannot be kept: events are not affected'),
    );
    return this.loading;
  }

  private async open(): Promise<Capture> {
    const { openCapture } = await import('./open-capture.ts');
    const room = openCapture(capturePath(this.home), this.context.rows(), { ...this.context, counts: this.counts });
    for (const request of this.early) room.take(...request);
    this.early = [];
    this.room = room;
    return room;
  }
}
