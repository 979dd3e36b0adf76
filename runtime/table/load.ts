/**
 * Reads a compiled table from its bytes, in pieces, and refuses an incomplete one.
 *
 * The compiler puts format and hash on the first line of `routes.json` and each route on a line of its own at the end of
 * the file. So the bytes can be checked before they are parsed, and 10,000 routes can be parsed between requests.
 */

import { createHash } from 'node:crypto';
import { messageOf } from '../../base/message-of.ts';
import { TABLE_FORMAT } from '../../base/table-format.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { TimeSlice } from './time-slice.ts';

/** Why a table cannot be served; the message tells an operator what to do and holds no secret. */
export class TableError extends Error {
  override readonly name = 'TableError';
}

const HEAD = /^\{"format":(\d+),"hash":"([0-9a-f]{64})",\n/;
/** The first line ends within this many bytes, in any format. */
const HEAD_BYTES = 256;
/** A line ends with an opening brace only where each entry of the map has its own line. */
const ROUTES_START = '\n"routes":{\n';
const ROUTES_END = '}}\n';
/** Bytes that are hashed at once. */
const HASH_PIECE = 1 << 20;
const NEWLINE = 0x0a;
const COMMA = 0x2c;

type TableHead = Omit<RouteTable, 'format' | 'hash' | 'routes'>;

/**
 * Returns the table, or `same` when its hash is `current`, the hash of the one in service.
 * @throws TableError when the bytes are not a complete table of this format.
 */
export async function loadTable(bytes: Buffer, current: string, timeSlice: TimeSlice): Promise<RouteTable | 'same'> {
  const head = HEAD.exec(bytes.toString('latin1', 0, HEAD_BYTES));
  if (head === null) throw new TableError('not a compiled table: run `hookwright compile`');
  const [{ length }, format, hash = ''] = head;
  if (format !== String(TABLE_FORMAT)) {
    const mine = `this version reads ${TABLE_FORMAT}`;
    throw new TableError(`the table has format ${format}, ${mine}: run \`hookwright compile\` again`);
  }
  if ((await hashFrom(bytes, length, timeSlice)) !== hash) {
    throw new TableError('the table does not match its hash: it is half-written or was edited');
  }
  if (hash === current) return 'same';
  try {
    return { format: TABLE_FORMAT, hash, ...(await parseRest(bytes, length, timeSlice)) };
  } catch (error) {
    throw new TableError(`the table is not JSON: ${messageOf(error)}`);
  }
}

async function hashFrom(bytes: Buffer, start: number, timeSlice: TimeSlice): Promise<string> {
  const hash = createHash('sha256');
  for (let at = start; at < bytes.length; at += HASH_PIECE) {
    hash.update(bytes.subarray(at, at + HASH_PIECE));
    if (timeSlice.isOver) await timeSlice.renew();
  }
  return hash.digest('hex');
}

/** Parses everything after the first line. A table without routes, or with another layout, is parsed at once. */
async function parseRest(
  bytes: Buffer,
  start: number,
  timeSlice: TimeSlice,
): Promise<Omit<RouteTable, 'format' | 'hash'>> {
  const routesAt = bytes.indexOf(ROUTES_START, start - 1);
  const last = bytes.length - ROUTES_END.length;
  if (routesAt < 0 || bytes[routesAt - 1] !== COMMA || bytes.toString('latin1', last) !== ROUTES_END) {
    return JSON.parse(`{${bytes.toString('utf8', start)}`);
  }
  const head = JSON.parse(`{${bytes.toString('utf8', start, routesAt - 1)}}`) as TableHead;
  const routes: RouteTable['routes'] = {};
  let at = routesAt + ROUTES_START.length;
  while (at < last) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline < last && bytes[newline - 1] === COMMA ? newline - 1 : last;
    Object.assign(routes, JSON.parse(`{${bytes.toString('utf8', at, end)}}`));
    at = end === last ? last : newline + 1;
    if (timeSlice.isOver) await timeSlice.renew();
  }
  return { ...head, routes };
}
