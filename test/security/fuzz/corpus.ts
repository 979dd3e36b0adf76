/** Reads the corpus by worker: cases that once broke something, or that represent a class of input. */
import { existsSync, readFileSync } from 'node:fs';

export interface CorpusEntry {
  readonly what: string;
  readonly case: unknown;
}

/** Empty for a worker without one. */
export function readCorpus(worker: string): readonly CorpusEntry[] {
  const file = new URL(`../corpus/${worker}.json`, import.meta.url);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as CorpusEntry[]) : [];
}
