/** Writes `catalog/shapes/` from the packages installed in this folder. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { NewShape } from '../shape-file/print-shape.ts';
import { printShape } from '../shape-file/print-shape.ts';
import { readFigma } from './figma.ts';
import { readGithub } from './github.ts';
import { readShopify } from './shopify.ts';
import { readTyped } from './typed.ts';
import { TYPED_SOURCES } from './typed-sources.ts';

const READERS: Readonly<Record<string, () => NewShape>> = {
  github: readGithub,
  shopify: readShopify,
  figma: readFigma,
  ...Object.fromEntries(TYPED_SOURCES.map((source) => [source.source, () => readTyped(source)])),
};

/** @param out folder @param only names of sources; empty: all, and files of unknown sources are removed */
export function generate(out: string, only: readonly string[]): void {
  if (only.length === 0) rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  let total = 0;
  for (const [source, read] of Object.entries(READERS)) {
    if (only.length > 0 && !only.includes(source)) continue;
    const text = printShape(read());
    writeFileSync(join(out, `${source}.json`), text);
    const size = gzipSync(text, { level: 9 }).length;
    total += size;
    console.error(`${source.padEnd(16)} ${kilobytes(size)}`);
  }
  console.error(`${'all'.padEnd(16)} ${kilobytes(total)} gzipped`);
}

const kilobytes = (bytes: number): string => `${(bytes / 1024).toFixed(1).padStart(6)} KB`;
