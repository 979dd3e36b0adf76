/** Serves the documents of the public server: health and the blueprint catalog. They contain no secrets (decisions §3). */

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Catalog } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { GatewayFiles } from '../platform/files.ts';
import type { Logger } from '../platform/log.ts';
import { FileVersion } from '../table/in-file-set.ts';
import type { Reply } from './reply.ts';
import { jsonReply, textReply } from './reply.ts';

export interface Document {
  readonly reply: Reply;
  /** The response if the client already has this version; null for a document without versions. */
  readonly notModified: Reply | null;
  readonly etag: string;
}

const HEALTH: Document = {
  reply: jsonReply(200, 'document', { status: 'ok', platform: 'webhook' }),
  notModified: null,
  etag: '',
};
const CATALOG_PATH = '/blueprints';

/** The documents by request path. The catalog is read again when its file changes. */
export class Documents {
  private source: CatalogSource;
  private readonly log: Logger;
  /** The current refresh, shared by concurrent requests. */
  private refreshing: Promise<void> | null = null;
  private catalog: ReadonlyMap<string, Document> = new Map();

  constructor(source: CatalogSource, log: Logger) {
    this.source = source;
    this.log = log;
  }

  /** Serves another catalog from the next request on. */
  use(source: CatalogSource): void {
    this.source = source;
  }

  /** Never rejects. */
  async find(path: string): Promise<Document | undefined> {
    if (path === '/health') return HEALTH;
    if (!path.startsWith(CATALOG_PATH)) return undefined;
    const turn = this.refreshing ?? this.refresh();
    this.refreshing = turn;
    await turn;
    if (this.refreshing === turn) this.refreshing = null;
    return this.catalog.get(path);
  }

  /** Reads a changed catalog. If it is invalid, the previous one stays in service. */
  private async refresh(): Promise<void> {
    const { source, log } = this;
    try {
      const text = await source.read();
      if (text !== null) this.catalog = text === undefined ? new Map() : publishCatalog(text);
    } catch (error) {
      log.error({ file: source.file, reason: String(error) }, 'could not read the blueprint catalog');
    }
  }
}

/** @throws Error unless the text is a list of entries with keys */
function publishCatalog(text: string): Map<string, Document> {
  const documents = new Map([[CATALOG_PATH, publish(text)]]);
  const entries: unknown = JSON.parse(text);
  if (!Array.isArray(entries)) throw new Error('the blueprint catalog must be a list');
  for (const entry of entries as unknown[]) {
    documents.set(`${CATALOG_PATH}/${encodeURIComponent(keyOf(entry))}`, publish(JSON.stringify(entry)));
  }
  return documents;
}

/** The response to a GET or HEAD of a document. */
export function readDocument({ reply, notModified, etag }: Document, headers: IncomingHttpHeaders): Reply {
  const known = headers['if-none-match'];
  return notModified !== null && known !== undefined && namesTag(known, etag) ? notModified : reply;
}

function publish(text: string): Document {
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`;
  const headers = ['ETag', etag, 'Access-Control-Allow-Origin', '*', 'Cache-Control', 'no-cache'];
  return {
    reply: textReply(200, 'document', text, ['Content-Type', 'application/json', ...headers]),
    notModified: { status: 304, outcome: 'document', body: '', headers },
    etag,
  };
}

function keyOf(entry: unknown): string {
  if (typeof entry === 'object' && entry !== null && 'key' in entry && typeof entry.key === 'string') return entry.key;
  throw new Error('an entry of the blueprint catalog has no key');
}

/** Compares weakly, as `If-None-Match` requires (RFC 9110 §13.1.2): a proxy that compresses marks the tag with `W/`. */
function namesTag(header: string, etag: string): boolean {
  return header.split(',').some((part) => {
    const tag = part.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
}

/** Source of the blueprint catalog: a file that may change, or a value from the embedding program. */
export interface CatalogSource {
  /** Its file, for messages; null if there is none. */
  readonly file: string | null;
  /** Resolves to the text if it may have changed since the last call; null: unchanged; undefined: there is no catalog. */
  read(): Promise<string | null | undefined>;
}

/** A catalog in a file, which may be missing. @param path of `blueprints.json`, absolute */
export function catalogFile(
  path: string,
  { stat, readText }: Pick<GatewayFiles, 'stat' | 'readText'>,
  clock: Clock,
): CatalogSource {
  const version = new FileVersion();
  return {
    file: path,
    read: async () => {
      const found = stat(path);
      if (!version.differs(found)) return null;
      version.note(found, clock.now());
      return found === undefined ? undefined : readText(path);
    },
  };
}

/** A catalog in memory; an empty one counts as missing. */
export function catalogValue(catalog: Catalog): CatalogSource {
  let text: string | null | undefined = catalog.length === 0 ? undefined : JSON.stringify(catalog);
  return {
    file: null,
    read: async () => {
      const fresh = text;
      text = null;
      return fresh;
    },
  };
}
