/** Parses the text of a `.env` file: `KEY=value` lines, comments, quotes, an optional `export`. Variables are not expanded. */

export interface EnvLines {
  readonly values: ReadonlyMap<string, string>;
  /** Ranges of the lines that could not be parsed. */
  readonly faults: readonly { readonly start: number; readonly end: number }[];
}

/** A name, `=`, and a value: in double quotes (`\n`, `\t`, `\"`, `\\` are escapes), in single quotes (verbatim), or bare. */
const LINE =
  /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^"'\s#](?:[^#]|(?<!\s)#)*)?)\s*(?:#.*)?$/;

/** Later lines override earlier ones, as in a shell. `util.parseEnv` does not report the lines that it cannot parse. */
export function parseEnvLines(text: string): EnvLines {
  const values = new Map<string, string>();
  const faults: { start: number; end: number }[] = [];
  let offset = 0;
  for (const line of text.split('\n')) {
    const match = LINE.exec(line);
    const [, name, double, single, bare] = match ?? [];
    if (name !== undefined) values.set(name, double === undefined ? (single ?? bare?.trim() ?? '') : unquote(double));
    else if (!/^\s*(#.*)?$/.test(line)) {
      faults.push({ start: offset + line.search(/\S/), end: offset + line.trimEnd().length });
    }
    offset += line.length + 1;
  }
  return { values, faults };
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

const unquote = (text: string): string =>
  text.replace(/\\(.)/g, (_, character: string) => ESCAPES[character] ?? character);

/** Whether others may write a file with these permission bits. Anyone who can write a `.env` file controls its secrets. */
export const mayOthersWrite = (mode: number): boolean => (mode & 0o002) !== 0;
