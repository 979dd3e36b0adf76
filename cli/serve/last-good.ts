/** The table that was served last: kept in the home, so that a restart does not depend on a configuration that is being edited. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { usualConfigs } from '../../compiler/source/search-config.ts';
import { describeDiskError, makeFolder } from '../../runtime/platform/files.ts';
import type { Logger } from '../../runtime/platform/log.ts';
import type { CliContext } from '../base/context.ts';

type Place = Pick<CliContext, 'home' | 'cwd'>;

/** The hash is within this many bytes. */
const HEAD_BYTES = 256;

export const servedFolder = ({ home }: Pick<Place, 'home'>): string => join(home, 'served');

/** The copy for a configuration. Each has its own, so that no project gets the routes of another. @param root absolute path */
const copyOf = (place: Place, root: string): string =>
  join(servedFolder(place), `${createHash('sha256').update(root).digest('hex').slice(0, 32)}.json`);

/** Absolute path of the table that was served last for this configuration; null if there is none. */
export function lastGood(place: Place, root: string): string | null {
  // A missing configuration may have been at either usual path.
  const roots = nodeFiles.stat(root) === null && usualConfigs(place).includes(root) ? usualConfigs(place) : [root];
  return roots.map((each) => copyOf(place, each)).find((path) => existsSync(path)) ?? null;
}

/** Copies each table that is served. */
export class ServedCopies {
  private readonly path: string;
  private readonly log: Logger;
  private copying: Promise<void> = Promise.resolve();
  private copy: (() => Promise<void>) | null = null;

  /** @param root absolute path of the configuration */
  constructor(place: Place, root: string, log: Logger) {
    this.path = copyOf(place, root);
    this.log = log;
  }

  /** Call it once the gateway serves. @param served the hash of the table in service */
  begin(tableFile: string, served: () => string): void {
    this.copy = async () => {
      const bytes = await readFile(tableFile);
      if (!bytes.subarray(0, HEAD_BYTES).includes(served())) return;
      makeFolder(dirname(this.path), 0o700);
      // It may contain literal secrets.
      await writeFile(`${this.path}.tmp`, bytes, { mode: 0o600, flush: true });
      await rename(`${this.path}.tmp`, this.path);
    };
    this.keep();
  }

  keep(): void {
    const { copy, log } = this;
    if (copy === null) return;
    this.copying = this.copying.then(copy).catch((error: unknown) => {
      const reason = describeDiskError(error);
      log.warn({ reason }, 'could not keep a copy of the table: a start with a broken configuration would fail');
    });
  }
}
