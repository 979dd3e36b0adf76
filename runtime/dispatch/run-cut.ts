/** What can end a run before its agent does: its time limit, or a drain that gave up waiting. */

export type CutReason = 'timeout' | 'drain';

export class RunCut {
  private controller: AbortController | null = null;
  private because: CutReason | null = null;

  get reason(): CutReason | null {
    return this.because;
  }

  /** Made when somebody asks: an agent that answers at once has no use for it. */
  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.because !== null) this.controller.abort();
    return this.controller.signal;
  }

  /** The first reason counts. */
  cut(reason: CutReason): void {
    if (this.because !== null) return;
    this.because = reason;
    this.controller?.abort();
  }
}
