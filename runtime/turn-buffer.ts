/** Gathers the lines of one turn of the event loop into one write, for the log: under load a write costs more than its line. */
import type { Writable } from 'node:stream';

/** A longer text is written at once, in UTF-16 units: bounds what a burst holds in memory. */
const LIMIT = 65_536;

export class TurnBuffer {
  private text = '';
  private readonly stream: Writable;
  private readonly onTurn = (): void => this.flush();

  constructor(stream: Writable) {
    this.stream = stream;
  }

  /** The pending turn keeps the process alive: a normal end loses nothing. */
  write(line: string): void {
    if (this.text === '') setImmediate(this.onTurn);
    this.text += line;
    if (this.text.length > LIMIT) this.flush();
  }

  /** Writes what is there now; for ends that are not normal. */
  flush(): void {
    if (this.text === '') return;
    const { text } = this;
    this.text = '';
    this.stream.write(text);
  }
}
