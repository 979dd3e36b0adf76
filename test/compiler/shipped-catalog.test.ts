import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOG_JSON, loadShippedCatalog } from '../../compiler/shipped-catalog.ts';
import { CATALOG, compileConfig } from '../helpers/compile.ts';
import { memoryFiles } from '../helpers/memory-files.ts';

const CONFIG = 'platforms: { webhook: { enabled: true, secret: env:S, routes: { a: { prompt: x } } } }';

test('the one file a build makes of the catalog gives the same table as its YAML files', () => {
  const files = memoryFiles({ [`/dist/catalog/${CATALOG_JSON}`]: JSON.stringify(CATALOG) });
  const built = loadShippedCatalog(files, '/dist/catalog');
  assert.deepEqual(built, CATALOG);
  assert.equal(compileConfig(CONFIG, { catalog: built }).output?.routesJson, compileConfig(CONFIG).output?.routesJson);
});

test('a damaged catalog is a bug of the installation, and says which file', () => {
  const files = memoryFiles({ '/c/sources/x.yaml': 'verify: magic', '/c/toolsets.yaml': 'web: {}' });
  assert.throws(() => loadShippedCatalog(files, '/c'), /x\.yaml/);
  assert.throws(() => loadShippedCatalog(memoryFiles({}), '/c'), /toolsets\.yaml/);
});
