/**
 * Gathers lines into few writes, for the log: under load a write costs more than its line. The first line after a quiet
 * moment is written at the end of its turn of the event loop; a busy process writes every few ms.
 */
import type { Writable } from 'node:stream';
import type { Clock } from './clock.ts';

/** A longer text is written at once, in UTF-16 units: bounds what a burst holds in memory. */
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

  /** Writes what is there now; for ends that are not normal. */
  flush(): void {
    if (this.text === '') return;
    const { text } = this;
    this.text = '';
    this.writtenAt = this.clock.monotonic();
    this.stream.write(text);
  }

  /** Timers of the process itself, which they keep alive: a normal end loses nothing. */
  private schedule(): void {
    const wait = this.writtenAt + PAUSE_MS - this.clock.monotonic();
    if (wait > 0) setTimeout(this.onTurn, wait);
    else setImmediate(this.onTurn);
  }
}
