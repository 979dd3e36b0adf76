/** Parses `.env` files: `KEY=value` lines, comments, quotes, an optional `export`. Nothing is expanded. */
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { SourceText } from './source-text.ts';

export interface EnvFile {
  readonly values: ReadonlyMap<string, string>;
  readonly findings: readonly Finding[];
}

/** A name, `=`, and a value: in double quotes (`\n`, `\t`, `\"`, `\\` are escapes), in single quotes (verbatim), or bare. */
const LINE =
  /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^"'\s#](?:[^#]|(?<!\s)#)*)?)\s*(?:#.*)?$/;

/** A later line wins over an earlier one, as in a shell. */
export function parseEnvFile(source: SourceText): EnvFile {
  const values = new Map<string, string>();
  const findings: Finding[] = [];
  let offset = 0;
  for (const line of source.text.split('\n')) {
    const match = LINE.exec(line);
    const [, name, double, single, bare] = match ?? [];
    if (name !== undefined) values.set(name, double === undefined ? (single ?? bare?.trim() ?? '') : unquote(double));
    else if (!/^\s*(#.*)?$/.test(line)) {
      const range = { start: offset + line.search(/\S/), end: offset + line.trimEnd().length };
      // Whatever the line was meant to be, it may hold a secret.
      const message = 'not a `KEY=value` line';
      findings.push({ rule: 'env-file-syntax', source, range, message, sensitive: true });
    }
    offset += line.length + 1;
  }
  return { values, findings };
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

const unquote = (text: string): string =>
  text.replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character);
