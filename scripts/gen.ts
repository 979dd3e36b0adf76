/** Generates types, validators and registries from files of the repository. With `--check`, it only compares them. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiFiles } from './gen/api.ts';
import { dataFiles } from './gen/data.ts';
import { operationFiles } from './gen/operations.ts';
import { registryFiles } from './gen/registries.ts';
import { ruleFiles } from './gen/rules.ts';
import { schemaFiles } from './gen/schemas.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const read = (file: string): string | null =>
  existsSync(join(ROOT, file)) ? readFileSync(join(ROOT, file), 'utf8') : null;

const files = [
  ...(await schemaFiles()),
  ...(await operationFiles()),
  ...(await apiFiles()),
  ...ruleFiles(),
  ...registryFiles(),
  ...dataFiles(),
];
const stale = files.filter(([file, text]) => read(file) !== text);

if (process.argv.includes('--check')) {
  if (stale.length > 0) {
    const names = stale.map(([file]) => file).join(', ');
    console.error(`stale: ${names}: run \`npm run gen\`, and commit what git shows as changed`);
    process.exit(1);
  }
} else {
  for (const [file, text] of stale) {
    mkdirSync(dirname(join(ROOT, file)), { recursive: true });
    writeFileSync(join(ROOT, file), text);
  }
  console.error(`wrote ${stale.length} of ${files.length} generated files`);
}
