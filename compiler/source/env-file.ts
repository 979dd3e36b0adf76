/** Parses `.env` files and reports lines that cannot be parsed. */
import { parseEnvLines } from '../../base/env-lines.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import { envFileSyntax } from '../rules/env-file-syntax.ts';
import type { SourceText } from '../text/source-text.ts';

export interface EnvFile {
  readonly values: ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
}

export function parseEnvFile(source: SourceText): EnvFile {
  return { values: parseEnvLines(source.text).values, findings: envFileSyntax.check(source) };
}
