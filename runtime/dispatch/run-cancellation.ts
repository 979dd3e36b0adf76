/** What can end a run before its agent does: its time limit, or a drain that gave up waiting. */

export type CancelReason = 'timeout' | 'drain';

export class RunCancellation {
  private controller: AbortController | null = null;
  private because: CancelReason | null = null;

  get reason(): CancelReason | null {
    return this.because;
  }

  /** Made when it is asked for: an agent that answers at once has no use for it. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.because !== null) this.controller.abort();
    return this.controller.signal;
  }

  /** The first reason counts. */
  cancel(reason: CancelReason): void {
    if (this.because !== null) return;
    this.because = reason;
    this.controller?.abort();
  }
}
