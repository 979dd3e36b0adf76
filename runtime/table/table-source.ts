/** Sources of tables: a file that is watched, or a value that the embedding program passes. Incomplete tables are rejected. */

import { webcrypto } from 'node:crypto';
import { codeOf, messageOf } from '../../base/errors.ts';
import { TABLE_FORMAT } from '../../base/names.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { GatewayFiles } from '../platform/files.ts';
import { FileVersion } from './in-file-set.ts';
import { inBatches } from './link-context.ts';

/** Where tables come from: a file that is watched, or a value that the embedding program passes. */
export interface TableSource {
  /** True if `load` may return a different table than last time. Never throws. */
  changed(): boolean;
  /** Returns the current table, or `same` if its hash is `current`. Rejects with TableError if there is none to serve. */
  load(current: string): Promise<RouteTable | 'same'>;
  /** Calls `changed` when the table may have changed; returns a function that stops watching. Throws like node:fs. */
  watch(changed: () => void): () => void;
}

/** A compiled table in memory. @throws TableError if it has another format */
export function tableValue(table: RouteTable): TableSource {
  if (table.format !== TABLE_FORMAT) {
    throw new TableError(`the table has format ${String(table.format)}, this version serves ${TABLE_FORMAT}`);
  }
  return {
    changed: () => false,
    load: async (current) => (table.hash === current ? 'same' : table),
    watch: () => () => {},
  };
}

/** A compiled table in a file. @param path of `routes.json`, absolute @param first another file, which the first load reads instead */
export function tableFile(
  path: string,
  { stat, read, watch }: Pick<GatewayFiles, 'stat' | 'read' | 'watch'>,
  clock: Clock,
  first = path,
): TableSource {
  let next = first;
  const version = new FileVersion();
  return {
    changed: () => {
      try {
        return version.differs(stat(path));
      } catch {
        return false;
      }
    },
    load: async (current) => {
      version.note(stat(path), clock.now());
      const from = next;
      next = path;
      return loadTable(await readTable(from, read), current);
    },
    watch: (changed) => watch(path, changed),
  };
}

async function readTable(path: string, read: GatewayFiles['read']): Promise<Buffer> {
  try {
    return await read(path);
  } catch (error) {
    const code = codeOf(error) ?? String(error);
    const hint = code === 'ENOENT' ? ': run `hookwright compile`' : '';
    throw new TableError(`could not read ${path} (${code})${hint}`);
  }
}

/**
 * Reads a compiled table from its bytes, and rejects an incomplete one.
 *
 * The compiler puts format and hash on the first line of `routes.json`, and each route on its own line at the end of the file.
 * So the bytes can be checked before they are parsed, and 10,000 routes can be parsed in batches.
 */

/**
 * A table cannot be served. The message tells an operator what to do and contains no secret.
 *
 * @example
 * ```ts
 * import { compileText } from 'hookwright/compiler';
 * import { createService, TableError } from 'hookwright/runtime';
 *
 * const yaml = 'platforms: { webhook: { enabled: true, secret: "env:SECRET", routes: { issues: { prompt: "{title}" } } } }';
 * const env = { SECRET: 'at-least-16-bytes-long' };
 * const { table } = await compileText(yaml, { home: '/var/lib/app', env });
 * if (table === null) throw new Error('the config has errors');
 *
 * const refused = await createService({ table, home: '/var/lib/app', env: {} }).catch((error: unknown) => error);
 * console.log(refused instanceof TableError); // true: the secret is missing
 * ```
 */
export class TableError extends Error {
  override readonly name = 'TableError';
}

const HEAD = /^\{"format":(\d+),"hash":"([0-9a-f]{64})",\n/;
/** The first line ends within this many bytes, in any format. */
const HEAD_BYTES = 256;
/** A line ends with an opening brace and a comma only if each entry of the map has its own line. */
const ROUTES_START = ',\n"routes":{\n';
const ROUTES_END = '}}\n';
const NEXT_ROUTE = ',\n';

/**
 * Returns the table, or `same` if its hash is `current`, the hash of the one in service.
 * @throws TableError unless the bytes are a complete table of this format.
 */
export async function loadTable(bytes: Buffer, current: string): Promise<RouteTable | 'same'> {
  const head = HEAD.exec(bytes.toString('latin1', 0, HEAD_BYTES));
  if (head === null) throw new TableError('not a compiled table: run `hookwright compile`');
  const [{ length }, format, hash = ''] = head;
  if (format !== String(TABLE_FORMAT)) {
    const mine = `this version reads ${TABLE_FORMAT}`;
    throw new TableError(`the table has format ${format}, ${mine}: run \`hookwright compile\` again`);
  }
  const rest = bytes.subarray(length);
  const digest = await webcrypto.subtle.digest('SHA-256', rest);
  if (Buffer.from(digest).toString('hex') !== hash) {
    throw new TableError('the table does not match its hash: it is incomplete or was edited');
  }
  if (hash === current) return 'same';
  try {
    return { format: TABLE_FORMAT, hash, ...(await parseRest(rest.toString('utf8'))) };
  } catch (error) {
    throw new TableError(`the table is not JSON: ${messageOf(error)}`);
  }
}

/** Parses everything after the first line. A table without routes, or with another layout, is parsed at once. */
async function parseRest(text: string): Promise<Omit<RouteTable, 'format' | 'hash'>> {
  const routesAt = text.indexOf(ROUTES_START);
  if (routesAt < 0 || !text.endsWith(ROUTES_END)) return JSON.parse(`{${text}`);
  const head = JSON.parse(`{${text.slice(0, routesAt)}}`) as Omit<RouteTable, 'format' | 'hash' | 'routes'>;
  const lines = text.slice(routesAt + ROUTES_START.length, -ROUTES_END.length).split(NEXT_ROUTE);
  const routes: RouteTable['routes'] = {};
  await inBatches(lines, (batch) => {
    Object.assign(routes, JSON.parse(`{${batch.join(NEXT_ROUTE)}}`));
  });
  return { ...head, routes };
}
