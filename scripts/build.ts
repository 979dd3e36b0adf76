/** Builds `dist/`: the compiled TypeScript, with the shipped catalog and the JSON Schemas beside it. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeFiles } from '../cli/files/node-files.ts';
import { CATALOG_JSON, readYamlCatalog } from '../compiler/shipped-catalog.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');

rmSync(DIST, { recursive: true, force: true });
const tsc = spawnSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
  cwd: ROOT,
  stdio: 'inherit',
});
if (tsc.status !== 0) process.exit(tsc.status ?? 1);
cpSync(join(ROOT, 'catalog'), join(DIST, 'catalog'), { recursive: true });
const PAGE = 'compiler/blueprints/gallery';
for (const file of ['gallery.css', 'gallery.js']) cpSync(join(ROOT, PAGE, file), join(DIST, PAGE, file));
// One file in place of a hundred: what start-up reads. The YAML files stay beside it, to be looked at.
const catalog = readYamlCatalog(nodeFiles, join(ROOT, 'catalog'));
writeFileSync(join(DIST, 'catalog', CATALOG_JSON), JSON.stringify(catalog));
mkdirSync(join(DIST, 'schemas'), { recursive: true });
for (const file of readdirSync(join(ROOT, 'schemas'))) {
  if (file.endsWith('.schema.json')) cpSync(join(ROOT, 'schemas', file), join(DIST, 'schemas', file));
}
chmodSync(join(DIST, 'cli/main.js'), 0o755);
