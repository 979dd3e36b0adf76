import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samplePayload } from '../../../modules/payloads/compiler/payloads/sample-payload.ts';
import { readShippedShape } from '../../../modules/payloads/compiler/shapes/shipped-shapes.ts';
import { compileConfig } from '../../helpers/compile.ts';

function planOf(route: string) {
  const { output } = compileConfig(`platforms:
  webhook: { enabled: true, secret: env:WEBHOOK_SECRET, routes: { a: ${route} } }
`);
  const plan = output?.table.routes.a;
  assert.ok(plan !== undefined);
  return plan;
}

test('a payload has what the templates read, of the types that the sender documents', () => {
  const shape = readShippedShape('forgea') ?? assert.fail();
  const plan = planOf(`{ events: [pull_request], filters: [{ field: action, in: [reopened, opened] }],
    prompt: "{repository.full_name} {number} {pull_request.draft} {pull_request.html_url} {pull_request.labels.0.name}" }`);
  assert.deepEqual(samplePayload(plan, 'pull_request', shape), {
    action: 'reopened',
    repository: { full_name: 'example/test' },
    number: 1,
    pull_request: { draft: true, html_url: 'https://example.com/', labels: [{ name: 'test name' }] },
  });
});

test('what the event itself says is no field of the payload', () => {
  const plan = planOf('{ prompt: "{event_type} {delivery_id} {id}" }');
  assert.deepEqual(samplePayload(plan, 'push', null), { id: 'test id' });
});

test('filters get values that pass: the first alternative, and nothing for what must not be', () => {
  const plan = planOf(`{ prompt: "{ref}", filters: [
    { field: ref, regex: "^refs/heads/(main|release)$" }, { field: tags, contains: [a] }, { field: title, contains: fix },
    { any: [{ field: level, equals: 3 }, { field: urgent, equals: true }] }, { not: { field: bot, equals: true } } ] }`);
  assert.deepEqual(samplePayload(plan, null, null), { ref: 'refs/heads/main', tags: [['a']], title: 'fix', level: 3 });
});
