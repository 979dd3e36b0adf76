/** Parses `.env` files and reports lines that cannot be parsed. */
import { parseEnvLines } from '../../base/env-lines.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { SourceText } from '../text/source-text.ts';

export interface EnvFile {
  readonly values: ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
}

export function parseEnvFile(source: SourceText): EnvFile {
  const { values, faults } = parseEnvLines(source.text);
  const message = 'not a `KEY=value` line';
  // The line may contain a secret.
  const findings = faults.map(
    (range): Finding => ({ rule: 'env-file-syntax', source, range, message, sensitive: true }),
  );
  return { values, findings };
}
