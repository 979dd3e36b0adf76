/** Reads the corpus: cases that once broke something, or that stand for a class of input, by worker. */
import { existsSync, readFileSync } from 'node:fs';

export interface CorpusEntry {
  readonly what: string;
  readonly case: unknown;
}

/** Empty for a worker that has none. */
export function readCorpus(worker: string): readonly CorpusEntry[] {
  const file = new URL(`../corpus/${worker}.json`, import.meta.url);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as CorpusEntry[]) : [];
}
