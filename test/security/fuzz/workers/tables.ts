/**
 * Fuzzes compiled tables: damaged bytes, and tables of another program with a matching hash. Each is loaded, or rejected with a
 * reason.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { compileConfig, printed } from '../../../helpers/compile.ts';
import { damaged, jsonOf } from '../damage.ts';
import { loadAndLink } from '../load-and-link.ts';
import { ODD_TEXTS, schemaWords } from '../words.ts';
import type { FuzzWorker } from '../worker.ts';
import { LOOP_MS } from '../worker.ts';

interface TableCase {
  readonly text: string;
  /** The first line gets the hash of the rest. */
  readonly sealed: boolean;
}

function tableOf(config: string): string {
  const { output, ...rest } = compileConfig(config);
  if (output === null) throw new Error(printed({ output, ...rest }));
  return output.routesJson;
}

const GOLDEN = new URL('../../../compiler/golden/', import.meta.url);
const SEEDS = [
  tableOf(readFileSync(new URL('minimal/hookwright.yaml', GOLDEN), 'utf8')),
  tableOf(
    'platforms: { webhook: { enabled: true, secret: env:S, routes: { a: { prompt: "{a}", events: ["x*"] }, b: { source: stripe, filters: { field: a, regex: b } } } } }',
  ),
];
const WORDS = [
  ...ODD_TEXTS,
  ...schemaWords(),
  ...['{', '}', '[', ']', ',', ':', '"', '\n', 'null', '0', '-1', '1e99', 'true'],
];

/** Another value at one position of the JSON: after the nth colon or comma. */
const replaced = fc.tuple(fc.constantFrom(...SEEDS), fc.nat(), jsonOf(WORDS, 2)).map(([text, seed, value]) => {
  const places = [...text.matchAll(/:("(?:[^"\\]|\\.)*"|-?\d+|true|false|null|\{\}|\[\])/g)];
  const place = places[seed % places.length];
  if (place === undefined) return text;
  return `${text.slice(0, place.index + 1)}${JSON.stringify(value)}${text.slice(place.index + place[0].length)}`;
});

function seal(text: string): string {
  const end = text.indexOf('\n') + 1;
  const rest = text.slice(end);
  return `{"format":2,"hash":"${createHash('sha256').update(rest).digest('hex')}",\n${rest}`;
}

export const tables: FuzzWorker<TableCase> = {
  name: 'tables',
  cases: fc.record({ text: fc.oneof(damaged(SEEDS, WORDS, 4), replaced), sealed: fc.boolean() }),
  open: async () => ({
    longestMs: LOOP_MS,
    close: async () => {},
    run: ({ text, sealed }) => loadAndLink(Buffer.from(sealed ? seal(text) : text), 'checked'),
  }),
};
