/**
 * Writes the route table as the bytes of `routes.json`: the same table gives the same bytes.
 *
 *     {"format":1,"hash":"<64 hex digits>",
 *     "server":{…},
 *     …
 *     "routes":{
 *     "<name>":{…},
 *     "<name>":{…}}}
 *
 * The first line ends with the file's first line feed and is exactly as above; the hash is SHA-256 of every byte after
 * that line feed. A loader compares the raw bytes before it parses them and never serialises anything again. One entry a
 * line keeps diffs of two tables readable; entries are sorted, so the order of
 * files does not show, and `routes` is the last key, so that a loader can parse them in pieces.
 */
import { createHash } from 'node:crypto';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { TableContent } from '../config/table-content.ts';
import { isPlainMap } from '../text/plain-map.ts';

export const TABLE_FORMAT = 1;

/** Top-level keys whose entries stand on lines of their own. */
const BY_ENTRY: ReadonlySet<string> = new Set([
  'schemes',
  'sources',
  'source_facts',
  'targets',
  'profiles',
  'jobs',
  'blueprints',
  'routes',
]);

export interface EmittedTable {
  readonly table: RouteTable;
  readonly text: string;
}

export function emitTable(content: TableContent): EmittedTable {
  // A loader may parse the routes apart from the rest: they are the end of the file.
  const { routes, ...head } = content;
  const parts = Object.entries({ ...head, routes }).map(([key, value]) => {
    const text = BY_ENTRY.has(key) && isPlainMap(value) ? printEntries(value) : JSON.stringify(sorted(value));
    return `${JSON.stringify(key)}:${text}`;
  });
  const rest = `${parts.join(',\n')}}\n`;
  const hash = createHash('sha256').update(rest).digest('hex');
  return {
    table: { format: TABLE_FORMAT, hash, ...content },
    text: `{"format":${TABLE_FORMAT},"hash":"${hash}",\n${rest}`,
  };
}

function printEntries(map: Readonly<Record<string, unknown>>): string {
  const lines = Object.keys(map)
    .sort()
    .map((key) => `\n${JSON.stringify(key)}:${JSON.stringify(map[key])}`);
  return `{${lines.join(',')}}`;
}

/** Top-level maps only; the fields of plans are always written in one order. */
function sorted(value: unknown): unknown {
  if (!isPlainMap(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
