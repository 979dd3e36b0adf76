/** Reads kept requests from their file: in its own thread in a server, inline in a command. */

import type {
  FoundRequest,
  KeptFilter,
  KeptHead,
  KeptPage,
  KeptSummary,
} from '../../../../../runtime/intake/kept-request.ts';
import type { Connect, Connection, Value } from '../../../../../runtime/store/sqlite/driver.ts';
import { connect as connectDriver } from '../../../../../runtime/store/sqlite/driver.ts';
import { openReading } from '../../../../../runtime/store/sqlite/open-database.ts';
import { LONGEST_PAGE, requestOf, summaryOf } from '../kept-row.ts';
import { firstNumber, numberOf, numbersOf } from '../request-id.ts';
import { CAPTURE_FORMAT, captureFormatOf, inodeOf } from './schema.ts';

export type CaptureReaderRequest =
  | { readonly kind: 'list'; readonly filter: KeptFilter; readonly page: KeptPage }
  | { readonly kind: 'load'; readonly id: string }
  | { readonly kind: 'close' };

type HeadRow = readonly [n: number, head: string];
type WholeRow = readonly [n: number, head: string, body: Buffer | null];

export class CaptureReader {
  private readonly path: string;
  private readonly connect: Connect;
  private opened: { readonly db: Connection; readonly inode: bigint } | null = null;

  constructor(path: string, connect: Connect = connectDriver) {
    this.path = path;
    this.connect = connect;
  }

  serve(request: CaptureReaderRequest): readonly KeptSummary[] | FoundRequest | null {
    switch (request.kind) {
      case 'list':
        return this.list(request.filter, request.page);
      case 'load':
        return this.load(request.id);
      case 'close':
        this.close();
        return null;
    }
  }

  /** Empty when there is no file. */
  private list(filter: KeptFilter, page: KeptPage): readonly KeptSummary[] {
    const db = this.open();
    if (db === null) return [];
    const { where, values } = conditions(filter, page);
    const order = page.after === undefined ? 'DESC' : 'ASC';
    const sql = `SELECT n, head FROM request${where} ORDER BY n ${order} LIMIT ?`;
    const rows = db.query<HeadRow>(sql).all(...values, Math.min(page.limit, LONGEST_PAGE));
    return rows.map(([n, head]) => summaryOf(n, JSON.parse(head) as KeptHead));
  }

  private load(id: string): FoundRequest {
    const range = numbersOf(id);
    const db = range === null ? null : this.open();
    if (db === null || range === null) return { kind: 'unknown' };
    const sql = 'SELECT n, head, body FROM request WHERE n BETWEEN ? AND ? ORDER BY n LIMIT 2';
    const [found, other] = db.query<WholeRow>(sql).all(...range);
    if (found === undefined) return { kind: 'unknown' };
    return other === undefined ? { kind: 'found', request: requestOf(...found) } : { kind: 'ambiguous' };
  }

  /** Null when there is no file. If the file was replaced meanwhile, the new one is opened. */
  private open(): Connection | null {
    const inode = inodeOf(this.path);
    if (this.opened?.inode !== inode) this.close();
    if (this.opened === null && inode !== null) {
      const db = openReading(this.connect, this.path);
      // Otherwise it has just been created, or is from another version.
      if (captureFormatOf(db) === CAPTURE_FORMAT) this.opened = { db, inode };
      else db.close();
    }
    return this.opened?.db ?? null;
  }

  private close(): void {
    this.opened?.db.close();
    this.opened = null;
  }
}

function conditions(filter: KeptFilter, page: KeptPage): { readonly where: string; readonly values: readonly Value[] } {
  const terms: string[] = [];
  const values: Value[] = [];
  const add = (term: string, ...given: readonly Value[]): void => {
    terms.push(term);
    values.push(...given);
  };
  if (filter.profile !== undefined) add('profile = ?', filter.profile);
  if (filter.route !== undefined) add('route = ?', filter.route);
  if (filter.outcome !== undefined) add('outcome = ?', filter.outcome);
  if (filter.reason !== undefined) add('reason = ?', filter.reason);
  if (filter.since !== undefined) add('n >= ?', firstNumber(filter.since));
  if (page.before !== undefined) add('n < ?', numberOf(page.before) ?? 0);
  if (page.after !== undefined) add('n > ?', numberOf(page.after) ?? 0);
  if (filter.grep !== undefined) {
    const pattern = likePattern(filter.grep);
    const inHead = likePattern(JSON.stringify(filter.grep).slice(1, -1));
    add("(head LIKE ? ESCAPE '!' OR CAST(body AS TEXT) LIKE ? ESCAPE '!')", inHead, pattern);
  }
  return { where: terms.length === 0 ? '' : ` WHERE ${terms.join(' AND ')}`, values };
}

const likePattern = (text: string): string => `%${text.replace(/[!%_]/g, '!$&')}%`;
