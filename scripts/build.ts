/** Builds `dist/`: the program in few bundled files, its types, the shipped catalog and the JSON Schemas. */
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './build/bundle.ts';
import { runTsc } from './build/run-tsc.ts';
import { writeCatalog } from './build/write-catalog.ts';
import { writeConsole } from './console/build-page.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');

rmSync(DIST, { recursive: true, force: true });
const status = await runTsc(ROOT, ['-p', 'tsconfig.build.json']);
if (status !== 0) process.exit(status);
await bundle(ROOT, DIST);
cpSync(join(ROOT, 'catalog'), join(DIST, 'catalog'), { recursive: true });
// Programs that are started as they are, next to the file that starts them.
for (const folder of ['modules/convert/cli', 'modules/sandbox/runtime'])
  for (const file of readdirSync(join(ROOT, folder)).filter((name) => /\.(?:mjs|sh)$/.test(name)))
    cpSync(join(ROOT, folder, file), join(DIST, 'cli/parts', file));
chmodSync(join(DIST, 'cli/parts/bwrap.sh'), 0o755);
// The YAML files are also shipped, for inspection.
await writeCatalog(ROOT, join(ROOT, 'catalog'), join(DIST, 'catalog'));
await writeConsole(ROOT, DIST);
mkdirSync(join(DIST, 'schemas'), { recursive: true });
for (const file of readdirSync(join(ROOT, 'schemas'))) {
  if (file.endsWith('.schema.json')) cpSync(join(ROOT, 'schemas', file), join(DIST, 'schemas', file));
}
chmodSync(join(DIST, 'cli/main.js'), 0o755);
