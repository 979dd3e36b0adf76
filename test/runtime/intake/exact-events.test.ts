/** Tests that different numbers and different lists of values are different events, sessions and groups for a gateway. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readJson } from '../../../base/exact-number.ts';
import { lowerCoalesceKey } from '../../../compiler/lower/template.ts';
import { parseListFile } from '../../../runtime/table/in-file-set.ts';
import { linkFilter } from '../../../runtime/table/link-filter.ts';
import { createValueSet } from '../../../runtime/table/value-set.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import { compileFiles } from '../../helpers/compile.ts';
import { serve } from '../../helpers/serve.ts';

const ID = '8202522731445525542';

function matches(filters: string, payload: string, list = '[]'): boolean {
  const config = `platforms: { webhook: { enabled: true, secret: "env:S", routes: { r: { prompt: x, filters: ${filters} } } } }`;
  const { output, diagnostics } = compileFiles(
    { 'hookwright.yaml': config },
    { env: { HOME: '/home/user', S: 'kJ8s0aPq2mZx9LtVb4Wd' } },
  );
  assert.deepEqual(
    diagnostics.filter(({ severity }) => severity === 'error'),
    [],
  );
  // As a gateway reads it: the table is written as JSON.
  const { routes } = JSON.parse(output?.routesJson ?? '{}') as RouteTable;
  const plan = routes.r?.filters ?? assert.fail();
  const open = () => createValueSet(parseListFile('ids.json', list));
  return linkFilter(plan, open).matches({ payload: readJson(payload), event: 'e', headers: {} });
}

for (const [filters, payload, holds] of [
  [`{ field: id, equals: ${ID} }`, `{"id":${ID}}`, true],
  [`{ field: id, equals: ${ID} }`, '{"id":8202522731445525543}', false],
  [`{ field: id, equals: "${ID}" }`, `{"id":${ID}}`, false],
  [`{ field: id, equals: "${ID}" }`, `{"id":"${ID}"}`, true],
  [`{ field: id, not_equals: ${ID} }`, '{"id":8202522731445525543}', true],
  [`{ field: id, in: [1, ${ID}] }`, `{"id":${ID}}`, true],
  [`{ field: id, in: [1, ${ID}] }`, '{"id":1.0}', true],
  [`{ field: id, in: [1, ${ID}] }`, '{"id":8202522731445525541}', false],
  [`{ field: ids, contains: ${ID} }`, `{"ids":[1,${ID}]}`, true],
  [`{ field: ids, equals: { a: [${ID}] } }`, `{"ids":{"a":[${ID}.0]}}`, true],
  [`{ field: n, equals: 1.1 }`, '{"n":1.10}', true],
  [`{ field: n, equals: 1.10 }`, '{"n":11e-1}', true],
  [`{ field: n, equals: 0 }`, '{"n":-0}', true],
  [`{ field: n, equals: 1e400 }`, '{"n":1e400}', true],
  [`{ field: n, equals: 1e400 }`, '{"n":1e401}', false],
  [`{ field: n, gt: 1e400 }`, '{"n":1e401}', true],
  [`{ field: n, gt: ${ID} }`, '{"n":8202522731445525543}', true],
  [`{ field: n, gt: ${ID} }`, `{"n":${ID}}`, false],
  [`{ field: n, gte: ${ID} }`, `{"n":${ID}}`, true],
  [`{ field: n, lt: 10 }`, '{"n":9.9999999999999999999999}', true],
  [`{ field: n, lt: 10 }`, '{"n":1e1}', false],
  [`{ field: n, lte: 10 }`, '{"n":"9"}', false],
  [`{ field: n, regex: "^10[.]00$" }`, '{"n":10.00}', true],
  [`{ field: n, starts_with: ${ID} }`, `{"n":"${ID}x"}`, true],
  [`{ field: payload.n, equals: 2 }`, '{"payload":10.00,"n":2.0}', true],
  [`{ field: n.text, exists: true }`, '{"n":10.00}', false],
  [`{ field: id, in_file: ids.json }`, `{"id":${ID}}`, true],
  [`{ field: id, in_file: ids.json }`, '{"id":8202522731445525543}', false],
] as const)
  test(`${filters} ${holds ? 'holds' : 'does not hold'} for ${payload}`, () =>
    assert.equal(matches(filters, payload, `[7, ${ID}]`), holds));

test('an alias and a tag of an operand mean what they say', () => {
  const aliased = `[{ field: other, missing: true }, { field: id, in: [&id ${ID}] }, { field: id, equals: *id }]`;
  assert.equal(matches(aliased, `{"id":${ID}}`), true);
  assert.equal(matches(`{ field: id, equals: !!str ${ID} }`, `{"id":"${ID}"}`), true);
});

test('a keyed session never has the name of a session of a delivery', async (t) => {
  const session = (scope: string | null) => ({ session: { key: lowerCoalesceKey('key').plan ?? [], scope } });
  const routes = {
    plain: {},
    keyed: session(null),
    scoped: session('webhook'),
    jobs: session('job'),
    pulls: session('pulls'),
  };
  const { post, dispatcher } = await serve(t, { routes });
  const names = async (route: string, payload: unknown, id: string): Promise<string> => {
    await post(`/webhooks/${route}`, payload, { 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': id });
    return dispatcher.handed.at(-1)?.dispatch.session ?? '';
  };
  const chosen = ['x', '/x', ':x', 'keyed:x', 'keyed/x', 'plain:x', 'webhook:plain:x', '', 'a/x'];
  const ofDeliveries: string[] = [];
  const ofKeys: string[] = [];
  for (const [at, text] of chosen.entries()) {
    for (const route of ['plain', 'keyed', 'scoped', 'jobs', 'pulls'])
      ofDeliveries.push(await names(route, {}, text === '' ? `none${at}` : text));
    for (const route of ['keyed', 'scoped', 'jobs', 'pulls'])
      ofKeys.push(await names(route, { key: text }, `k${route}${at}`));
    ofDeliveries.push(`job:${text}`);
  }
  assert.equal(ofKeys.length, 4 * chosen.length);
  assert.deepEqual(
    ofKeys.filter((name) => ofDeliveries.includes(name)),
    [],
  );
  assert.equal(new Set(ofKeys).size, ofKeys.length);
  assert.deepEqual(ofKeys.slice(0, 4), ['webhook:keyed:x', 'webhook/x', 'job/x', 'pulls:x']);
  assert.deepEqual(ofDeliveries.slice(0, 2), ['webhook:plain:x', 'webhook:keyed/x']);
});
