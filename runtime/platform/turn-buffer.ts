/**
 * Buffers log lines, because under load a write costs more than its line. The first line after a quiet period is written at
 * the end of its turn of the event loop; a busy process writes every few ms.
 */
import type { Writable } from 'node:stream';
import type { Clock } from './clock.ts';

/** Longest text that is buffered, in UTF-16 units, which bounds the memory of a burst. */
const LIMIT = 65_536;
/** Least time between two writes, in ms. */
const PAUSE_MS = 10;

export class TurnBuffer {
  private text = '';
  private writtenAt = Number.NEGATIVE_INFINITY;
  private readonly stream: Writable;
  private readonly clock: Clock;
  private readonly onTurn = (): void => this.flush();

  constructor(stream: Writable, clock: Clock) {
    this.stream = stream;
    this.clock = clock;
  }

  write(line: string): void {
    if (this.text === '') this.schedule();
    this.text += line;
    if (this.text.length > LIMIT) this.flush();
  }

  /** Writes the buffered text at once; for abnormal exits. */
  flush(): void {
    if (this.text === '') return;
    const { text } = this;
    this.text = '';
    this.writtenAt = this.clock.monotonic();
    this.stream.write(text);
  }

  /** Uses real timers, which keep the process alive, so that a normal exit loses nothing. */
  private schedule(): void {
    const wait = this.writtenAt + PAUSE_MS - this.clock.monotonic();
    if (wait > 0) setTimeout(this.onTurn, wait);
    else setImmediate(this.onTurn);
  }
}
