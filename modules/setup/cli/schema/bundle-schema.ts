/** The JSON Schemas that come with this program, each in one piece. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assetFolder } from '../../../../base/assets.ts';

const SUFFIX = '.schema.json';

export type Schema = Readonly<Record<string, unknown>>;

export const schemaNames = (): string[] =>
  readdirSync(assetFolder('schemas'))
    .filter((file) => file.endsWith(SUFFIX))
    .map((file) => file.slice(0, -SUFFIX.length))
    .sort();

export const readSchema = (name: string): Schema =>
  JSON.parse(readFileSync(join(assetFolder('schemas'), `${name}${SUFFIX}`), 'utf8')) as Schema;

/** A schema with every other one it needs under `$defs`, each under its own `$id`: references keep working. */
export function bundleSchema(name: string): Schema {
  const root = readSchema(name);
  const needed = new Map<string, Schema>();
  const visit = (schema: Schema): void => {
    for (const file of referencedFiles(schema)) {
      if (file === `${name}${SUFFIX}` || needed.has(file)) continue;
      const other = readSchema(file.slice(0, -SUFFIX.length));
      needed.set(file, other);
      visit(other);
    }
  };
  visit(root);
  if (needed.size === 0) return root;
  return { ...root, $defs: { ...(root.$defs as Schema | undefined), ...Object.fromEntries(needed) } };
}

function referencedFiles(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(referencedFiles);
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => {
    if (key !== '$ref' || typeof value !== 'string') return referencedFiles(value);
    const [file = ''] = value.split('#', 1);
    return file === '' ? [] : [file];
  });
}
