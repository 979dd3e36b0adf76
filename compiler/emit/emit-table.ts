/**
 * Serialises the route table to the bytes of `routes.json`. The same table gives the same bytes.
 *
 *     {"format":1,"hash":"<64 hex digits>",
 *     "server":{…},
 *     …
 *     "routes":{
 *     "<name>":{…},
 *     "<name>":{…}}}
 *
 * The first line is exactly as above; the hash is the SHA-256 of all bytes after its line feed. A loader verifies the raw
 * bytes before it parses them and never serialises anything again. Each entry has its own line, which keeps diffs of
 * tables readable. Entries are sorted, so the table does not depend on the order of files, and `routes` is the last
 * key, so that a loader can parse the routes in pieces.
 */
import { createHash } from 'node:crypto';
import { TABLE_FORMAT } from '../../base/names.ts';
import type { Catalog, RouteTable } from '../../schemas/generated/types.ts';
import type { TableContent } from '../config/settings.ts';
import { isPlainMap } from '../text/plain-data.ts';

/** Top-level keys whose entries each get a line. */
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

export function emitTable(content: TableContent): { readonly table: RouteTable; readonly text: string } {
  // The routes come last, so that a loader can parse them separately.
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
  const keys = Object.keys(map).sort();
  return `{${keys.map((key) => `\n${JSON.stringify(key)}:${printEntry(map[key])}`).join(',')}}`;
}

/** Plans do not change, and those of the shipped catalog are the same objects for each compile of a process. */
const PRINTED = new WeakMap<object, string>();

function printEntry(plan: unknown): string {
  if (typeof plan !== 'object' || plan === null) return JSON.stringify(plan);
  const text = PRINTED.get(plan) ?? JSON.stringify(plan);
  PRINTED.set(plan, text);
  return text;
}

/** Sorts top-level maps; the fields of plans have a fixed order already. */
function sorted(value: unknown): unknown {
  if (!isPlainMap(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The bytes of `blueprints.json`. */
export const printCatalog = (catalog: Catalog): string => `${JSON.stringify(catalog, null, 2)}\n`;
