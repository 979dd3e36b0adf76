/** Sets variables in a `.env` file and leaves every other line, comment and blank as it is. */

/** `text` with `values` set: in place where a variable is already there, else at the end. */
export function setEnvLines(text: string, values: Readonly<Record<string, string>>): string {
  const left = new Map(Object.entries(values));
  const lines = text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
  const kept = lines.map((line) => {
    const name = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=/.exec(line)?.[1];
    const value = name === undefined ? undefined : left.get(name);
    if (name === undefined || value === undefined) return line;
    left.delete(name);
    return `${name}=${quote(value)}`;
  });
  const added = [...left].map(([name, value]) => `${name}=${quote(value)}`);
  return `${[...kept, ...added].join('\n')}\n`;
}

/** Bare when nothing in the value could be read as something else. */
function quote(value: string): string {
  if (/^[A-Za-z0-9_./:@%+,=-]*$/.test(value)) return value;
  if (!value.includes("'") && !value.includes('\n')) return `'${value}'`;
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;
}
