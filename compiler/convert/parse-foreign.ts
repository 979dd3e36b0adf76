/** Parses a foreign config, and says what is wrong with one that cannot be parsed. */
import type { ParsedFile } from '../source/parse-yaml.ts';
import { parseYaml } from '../source/parse-yaml.ts';
import type { SourceText } from '../text/source-text.ts';
import type { ConversionRefusal } from './conversion.ts';

export function parseForeign(source: SourceText): ParsedFile | ConversionRefusal {
  const { file, findings } = parseYaml(source);
  if (file !== null && findings.length === 0) return file;
  // What follows a `*` may be a secret that lacks its quotes.
  const alias = 'this alias stands for nothing: quote a value that begins with `*`';
  const faults = findings.map(({ rule, range: { start }, message }) => ({
    start,
    message: rule.id === 'yaml-alias' ? alias : message,
  }));
  return { faults };
}

/** Refuses the whole text. */
export const refuseText = (message: string, hint?: string): ConversionRefusal => ({
  faults: [{ start: 0, message, ...(hint === undefined ? {} : { hint }) }],
});
