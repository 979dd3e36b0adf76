import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOG_JSON, loadShippedCatalog } from '../../compiler/source/load-catalog.ts';
import { CATALOG, compileConfig } from '../helpers/compile.ts';
import { memoryFiles } from '../helpers/memory-files.ts';

const CONFIG = 'platforms: { webhook: { enabled: true, secret: env:S, routes: { a: { prompt: x } } } }';

test('the catalog file of a build gives the same table as the YAML files', () => {
  const files = memoryFiles({ [`/dist/catalog/${CATALOG_JSON}`]: JSON.stringify(CATALOG) });
  const built = loadShippedCatalog(files, '/dist/catalog');
  assert.deepEqual(built, CATALOG);
  assert.equal(compileConfig(CONFIG, { catalog: built }).output?.routesJson, compileConfig(CONFIG).output?.routesJson);
});

test('reports file and line of a damaged catalog', () => {
  const damaged = (files: Readonly<Record<string, string>>) => () => loadShippedCatalog(memoryFiles(files), '/c');
  const toolsets = { '/c/toolsets.yaml': 'web: {}' };
  assert.throws(
    damaged({ ...toolsets, '/c/sources/x.yaml': 'title: X\nverify: magic\n' }),
    /\/c\/sources\/x\.yaml:[12]: /,
  );
  // The shape is valid, so only lowering finds the fault.
  const source =
    'title: X\ndocs: https://example.com/\nevidence: vendor\nverify: token\nsignature: { header: x-token }\nsigned: "{body}"\n';
  assert.throws(damaged({ ...toolsets, '/c/sources/x.yaml': source }), /\/c\/sources\/x\.yaml:6: /);
  const target = 'title: T\nbase: https://example.com\nrequest: { path: x }\n';
  assert.throws(damaged({ ...toolsets, '/c/targets/t.yaml': target }), /\/c\/targets\/t\.yaml:3: /);
  assert.throws(damaged({ '/c/toolsets.yaml': 'web: {}\n  x: [' }), /\/c\/toolsets\.yaml:\d: /);
  assert.throws(damaged({}), /\/c\/toolsets\.yaml: /);
});
