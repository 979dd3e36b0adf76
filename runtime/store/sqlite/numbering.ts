/**
 * Numbers of dispatches. Those of the one server are even, and it gives them out itself, before anything is in the
 * database; those of a command beside it are odd, and the database says which is the next one. So neither gives out a
 * number of the other's, and each begins behind the highest one it has seen.
 */
import type Database from 'libsql';
import type { Ref } from '../mutations.ts';

export class ServerNumbers {
  private last = 0;
  private readonly highest: () => Ref;

  /** @param highest number that is stored */
  constructor(highest: () => Ref) {
    this.highest = highest;
    this.look();
  }

  next(): Ref {
    this.last += this.last % 2 === 0 ? 2 : 1;
    return this.last;
  }

  /** Takes note of numbers that others have given out, so that later dispatches have higher ones. */
  look(): void {
    this.last = Math.max(this.last, this.highest());
  }
}

/** The highest id of a dispatch; ids sort by the time at which they were made up. */
export function lastIdOf(db: Database.Database): string {
  const [id] = db.prepare("SELECT coalesce(max(id), '') FROM dispatch").raw().get([]) as [string];
  return id;
}

/** Within a transaction that may write. */
export function createCommandNumbers(db: Database.Database): () => Ref {
  const highest = db.prepare('SELECT coalesce(max(ref), 0) FROM dispatch').raw();
  return () => {
    const [ref] = highest.get([]) as [Ref];
    return ref + (ref % 2 === 0 ? 1 : 2);
  };
}
