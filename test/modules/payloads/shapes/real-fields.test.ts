/** Fields that senders really send are never called unknown: neither as a placeholder nor in a filter, and not as a hint. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { applyStrict } from '../../../../compiler/diagnostics/diagnostic.ts';
import { compileConfig } from '../../../helpers/compile.ts';
import { ROOT } from '../../../helpers/root.ts';
import { IS_SAMPLE, sampleOf } from '../../../helpers/sample.ts';

type Fields = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

const FIELDS: Fields = parse(readFileSync(join(ROOT, 'test/modules/payloads/shapes/real-fields.yaml'), 'utf8'));

const RULES: ReadonlySet<string> = new Set(['unknown-payload-path', 'unknown-event-action', 'impossible-filter']);

function found(source: string, event: string, route: Readonly<Record<string, unknown>>) {
  const routes = { a: { source, events: [event], ...route } };
  const config = { platforms: { webhook: { enabled: true, secret: 'env:SECRET', routes } } };
  return applyStrict(compileConfig(JSON.stringify(config)).diagnostics).filter(({ rule }) => RULES.has(rule));
}

const messages = (source: string, event: string, route: Readonly<Record<string, unknown>>): readonly string[] =>
  found(source, event, route).map(({ severity, message }) => `${severity}: ${message}`);

for (const [source, events] of Object.entries(FIELDS)) {
  describe(source, () => {
    for (const [event, paths] of sampleOf(Object.entries(events))) {
      test(`${event}: ${paths.length} fields`, () => {
        assert.deepEqual(messages(source, event, { prompt: paths.map((path) => `{${path}}`).join(' ') }), []);
        for (const field of paths)
          assert.deepEqual(messages(source, event, { prompt: 'x', filters: { field, equals: 'a value' } }), []);
      });
    }
  });
}

interface Examples {
  readonly name: string;
  readonly examples: readonly unknown[];
}

function leavesOf(value: unknown, path: readonly string[], into: Set<string>): void {
  if (typeof value === 'object' && value !== null)
    for (const [key, each] of Object.entries(value)) {
      // Other keys have another spelling in a placeholder.
      if (/^[\w-]+$/.test(key)) leavesOf(each, [...path, key], into);
    }
  else into.add(path.join('.'));
}

test('github: every leaf of every published example is a placeholder without a warning', () => {
  const file = createRequire(import.meta.url).resolve('@octokit/webhooks-examples/api.github.com/index.json');
  let leaves = 0;
  for (const { name, examples } of sampleOf(JSON.parse(readFileSync(file, 'utf8')) as readonly Examples[])) {
    const paths = new Set<string>();
    for (const payload of examples) leavesOf(payload, [], paths);
    leaves += paths.size;
    assert.deepEqual(messages('github', name, { prompt: [...paths].map((path) => `{${path}}`).join('\n') }), []);
  }
  assert.ok(leaves > (IS_SAMPLE ? 1000 : 5000), `${leaves}`);
});

describe('a shape that is not complete', () => {
  const slip = found('gitlab', 'Push Hook', { prompt: '{project.path_with_namespce}' });

  test('a near miss of one known path is a hint, without a repair and not under --strict', () => {
    assert.deepEqual(
      slip.map(({ severity, fix }) => [severity, fix]),
      [['hint', undefined]],
    );
    assert.match(slip[0]?.message ?? '', /`\{project\.path_with_namespace\}`/);
  });

  test('contradictions between conditions are found, and values that the shape does not list are not', () => {
    const both = [
      { field: 'object_kind', equals: 'push' },
      { field: 'object_kind', equals: 'tag_push' },
    ];
    assert.deepEqual(
      found('gitlab', 'Push Hook', { prompt: 'x', filters: both }).map(({ rule }) => rule),
      ['impossible-filter'],
    );
    const action = { field: 'action', equals: 'archived' };
    assert.deepEqual(messages('linear', 'Issue', { prompt: 'x', filters: action }), []);
  });
});
