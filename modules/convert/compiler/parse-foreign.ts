/** Parses a foreign config, or returns why it cannot be parsed. */
import type { ParsedFile } from '../../../compiler/source/parse-yaml.ts';
import { parseYaml } from '../../../compiler/source/parse-yaml.ts';
import type { SourceText } from '../../../compiler/text/source-text.ts';
import type { ConversionRefusal } from './conversion.ts';

/** Returns syntax errors as a refusal. */
export function parseForeign(source: SourceText): ParsedFile | ConversionRefusal {
  const { file, findings } = parseYaml(source);
  if (file !== null && findings.length === 0) return file;
  // The text after `*` is not repeated: it may be an unquoted secret.
  const alias = 'this alias has no anchor: quote a value that begins with `*`';
  const faults = findings.map(({ rule, range: { start }, message }) => ({
    start,
    message: rule === 'yaml-alias' ? alias : message,
  }));
  return { faults };
}

/** A refusal of the whole text. */
export const refuseText = (message: string, hint?: string): ConversionRefusal => ({
  faults: [{ start: 0, message, ...(hint === undefined ? {} : { hint }) }],
});
