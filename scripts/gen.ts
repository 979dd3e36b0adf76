/** Generates types, validators and registries from files of the repository. With `--check`, it only compares them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dataFiles } from './gen/data.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const read = (file: string): string | null =>
  existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : null;

type Generated = readonly (readonly [file: string, text: string])[];

function write(files: Generated): number {
  const stale = files.filter(([file, text]) => read(file) !== text);
  for (const [file, text] of stale) {
    mkdirSync(dirname(join(ROOT, file)), { recursive: true });
    writeFileSync(join(ROOT, file), text);
  }
  return stale.length;
}

const isCheck = process.argv.includes('--check');
const tables = dataFiles();
// The other generators import files that read these tables.
const written = isCheck ? 0 : write(tables);
const { apiFiles } = await import('./gen/api.ts');
const { operationFiles } = await import('./gen/operations.ts');
const { registryFiles } = await import('./gen/registries.ts');
const { ruleFiles } = await import('./gen/rules.ts');
const { schemaFiles } = await import('./gen/schemas.ts');
const others: Generated = [
  ...(await schemaFiles()),
  ...(await operationFiles()),
  ...(await apiFiles()),
  ...ruleFiles(),
  ...registryFiles(),
];

if (isCheck) {
  const stale = [...tables, ...others].filter(([file, text]) => read(file) !== text);
  if (stale.length > 0) {
    const names = stale.map(([file]) => file).join(', ');
    console.error(`stale: ${names}: run \`npm run gen\`, and commit what git shows as changed`);
    process.exit(1);
  }
} else {
  console.error(`wrote ${written + write(others)} of ${tables.length + others.length} generated files`);
}
