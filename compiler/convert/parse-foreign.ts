/** Parses a foreign config, and says so in findings where that cannot be done. */

import { wrongType } from '../rules/wrong-type.ts';
import type { ParsedFile } from '../source/parse-yaml.ts';
import { parseYaml } from '../source/parse-yaml.ts';
import type { SourceText } from '../text/source-text.ts';
import { START } from '../text/source-text.ts';
import type { Refusal } from './conversion.ts';

export function parseForeign(source: SourceText): ParsedFile | Refusal {
  const { file, findings } = parseYaml(source);
  return file === null || findings.length > 0 ? { findings } : file;
}

/** Refuses the whole text. */
export const refuse = (source: SourceText, message: string, hint?: string): Refusal => ({
  findings: [{ rule: wrongType, source, range: START, message, ...(hint === undefined ? {} : { hint }) }],
});
