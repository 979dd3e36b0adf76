/** The reading connection, which in a server has its own thread: runs queries and makes checkpoints. */
import { messageOf } from '../../../base/message-of.ts';
import { StoreDamaged } from '../decode.ts';
import type { Query, QueryHandlers, QueryKind, QueryResults } from '../queries.ts';
import type { Connect, Connection } from './driver.ts';
import { connect as connectDriver, isMalformed } from './driver.ts';
import { openReading } from './open-database.ts';
import { createQueries } from './read.ts';

export interface ReaderOptions {
  readonly path: string;
  /** Default: the driver's. */
  readonly connect?: Connect;
  /** The connection of a store in memory, in place of one of its own; the writer closes it. */
  readonly shared?: Connection;
}

export type ReaderRequest =
  | { readonly kind: 'read'; readonly queries: readonly Query[] }
  /** `check` reads the whole file, which takes seconds. */
  | { readonly kind: 'checkpoint' | 'check' | 'close' };

export type ReadResult =
  | { readonly kind: 'ok'; readonly value: QueryResults[QueryKind] }
  /** `malformed`: damaged pages; `damaged`: a value. */
  | { readonly kind: 'failed' | 'malformed' | 'damaged'; readonly message: string };

export class Reader {
  private readonly options: ReaderOptions;
  private opened: { readonly db: Connection; readonly queries: QueryHandlers } | null = null;

  constructor(options: ReaderOptions) {
    this.options = options;
  }

  /** Returns, by kind: the results of the queries in order, as JSON; the frames in the log; what is wrong with the file. */
  serve(request: ReaderRequest): string | number | null {
    switch (request.kind) {
      case 'read':
        // As one text: sending it to another thread costs a fraction of cloning the objects.
        return JSON.stringify(request.queries.map((query) => this.read(query)));
      case 'checkpoint': {
        const row = this.open().db.query<[number, number, number]>('PRAGMA wal_checkpoint(PASSIVE)').get();
        return row?.[1] ?? 0;
      }
      case 'check':
        return this.check();
      case 'close':
        if (this.options.shared === undefined) this.opened?.db.close();
        this.opened = null;
        return null;
    }
  }

  /** Returns what is wrong with the file; null when it is intact. */
  private check(): string | null {
    try {
      const found = this.open().db.query<[string]>('PRAGMA quick_check(1)').get()?.[0];
      if (found === 'ok') return null;
      return (found ?? 'nothing was checked').replace(/^\*{3} in database main \*{3}\n/, '').replaceAll('\n', '; ');
    } catch (error) {
      if (!isMalformed(error)) throw error;
      return messageOf(error);
    }
  }

  private read(query: Query): ReadResult {
    try {
      const { queries } = this.open();
      const ask = queries[query.kind] as (query: Query) => QueryResults[QueryKind];
      return { kind: 'ok', value: ask(query) };
    } catch (error) {
      const kind = error instanceof StoreDamaged ? 'damaged' : isMalformed(error) ? 'malformed' : 'failed';
      return { kind, message: messageOf(error) };
    }
  }

  private open(): { readonly db: Connection; readonly queries: QueryHandlers } {
    if (this.opened !== null) return this.opened;
    const { connect = connectDriver, path, shared } = this.options;
    const db = shared ?? openReading(connect, path);
    this.opened = { db, queries: createQueries(db) };
    return this.opened;
  }
}
