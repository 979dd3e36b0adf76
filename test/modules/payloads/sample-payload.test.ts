import assert from 'node:assert/strict';
import { test } from 'node:test';
import { samplePayload } from '../../../modules/payloads/compiler/payloads/sample-payload.ts';
import { readShippedShape } from '../../../modules/payloads/compiler/shapes/shape-file.ts';
import { compileConfig } from '../../helpers/compile.ts';

const NOW = Date.UTC(2026, 5, 1);

function planOf(route: string) {
  const { output } = compileConfig(`platforms:
  webhook: { enabled: true, secret: env:WEBHOOK_SECRET, routes: { a: ${route} } }
`);
  const plan = output?.table.routes.a;
  assert.ok(plan !== undefined);
  return plan;
}

test('a payload has the fields that templates read, with the documented types', () => {
  const shape = readShippedShape('github') ?? assert.fail();
  const plan = planOf(`{ events: [pull_request], filters: [{ field: action, in: [reopened, opened] }],
    prompt: "{repository.full_name} {number} {pull_request.draft} {pull_request.html_url} {pull_request.labels.0.name}" }`);
  assert.deepEqual(samplePayload(plan, 'pull_request', shape, NOW), {
    action: 'reopened',
    repository: { full_name: 'example/test' },
    number: 1,
    pull_request: { draft: true, html_url: 'https://example.com/', labels: [{ name: 'test name' }] },
  });
});

test('built-in values are not fields of the payload', () => {
  const plan = planOf('{ prompt: "{event_type} {delivery_id} {id}" }');
  assert.deepEqual(samplePayload(plan, 'push', null, NOW), { id: 'test id' });
});

test('filters get values that pass: the first alternative, and no value for negated conditions', () => {
  const plan = planOf(`{ prompt: "{ref}", filters: [
    { field: ref, regex: "^refs/heads/(main|release)$" }, { field: tags, contains: [a] }, { field: title, contains: fix },
    { any: [{ field: level, equals: 3 }, { field: urgent, equals: true }] }, { not: { field: bot, equals: true } } ] }`);
  assert.deepEqual(samplePayload(plan, null, null, NOW), {
    ref: 'refs/heads/main',
    tags: [['a']],
    title: 'fix',
    level: 3,
  });
});

test('each operator that accepts a text gets an accepted one, and the time of the event is now', () => {
  const plan = planOf(`{ max_age_seconds: 60, timestamp: head.at, prompt: "{head.at}", filters: [
    { field: text, starts_with: "/deploy " }, { field: kind, exists: true }, { field: gone, missing: true } ] }`);
  assert.deepEqual(samplePayload(plan, null, null, NOW), {
    text: '/deploy ',
    kind: 'test kind',
    head: { at: '2026-06-01T00:00:00.000Z' },
  });
});

test('a comparison gets an accepted number', () => {
  const plan = planOf(`{ prompt: x, filters: [
    { field: a, gt: 500 }, { field: b, gte: 0.5 }, { field: c, lt: 0 }, { field: d, lte: 10 } ] }`);
  assert.deepEqual(samplePayload(plan, null, null, NOW), { a: 501, b: 0.5, c: -1, d: 10 });
});
