/** Compares every example payload that GitHub publishes with the shipped shape: no path is unknown, and no value contradicts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import type { Shape } from '../../../../modules/payloads/compiler/shapes/shape.ts';
import { payloadFaults } from '../../../helpers/payload-faults.ts';
import { shippedShape } from '../../../helpers/shapes.ts';

interface Examples {
  readonly name: string;
  readonly examples: readonly { readonly action?: string }[];
}

const require = createRequire(import.meta.url);
const SHAPE = shippedShape('github');

const examplesOf = (edition: string): readonly Examples[] =>
  JSON.parse(readFileSync(require.resolve(`@octokit/webhooks-examples/${edition}/index.json`), 'utf8')) as Examples[];

function faultsOf(shape: Shape, edition: string) {
  let paths = 0;
  const faults: string[] = [];
  const strange = new Set<string>();
  for (const { name, examples } of examplesOf(edition)) {
    for (const payload of examples) {
      const found = payloadFaults(shape, name, payload);
      if (found === null) strange.add(`${name}/${payload.action}`);
      paths += found?.paths ?? 0;
      faults.push(...(found?.unknown ?? []).map((path) => `${name}: no ${path}`));
      faults.push(...(found?.contradicting ?? []).map((path) => `${name}: another value of ${path}`));
    }
  }
  return { paths, faults, strange: [...strange] };
}

describe('the examples of GitHub', () => {
  test('github.com: of 68,055 paths none is unknown and no value contradicts', () => {
    assert.deepEqual(faultsOf(SHAPE, 'api.github.com'), { paths: 68_055, faults: [], strange: [] });
  });
  for (const edition of ['ghes-31', 'ghes-32', 'ghes-33', 'ghes-34', 'ghes-35']) {
    test(`${edition}: no path is unknown in events of the shape`, () => {
      const { faults, strange } = faultsOf(SHAPE, edition);
      assert.deepEqual(faults, []);
      // A retired event, and two that had no action at that time.
      const retired = ['content_reference/created', 'deployment/undefined', 'deployment_status/undefined'];
      assert.deepEqual(
        strange.filter((each) => !retired.includes(each)),
        [],
      );
    });
  }
});

test('the comparison finds unknown paths and contradictions', () => {
  const payload = { action: 'closed', number: '5', pull_request: { titel: 'x', state: 'merged' } };
  const found = payloadFaults(SHAPE, 'pull_request', payload);
  assert.deepEqual(found?.unknown, ['pull_request.titel']);
  assert.deepEqual(found?.contradicting, ['number', 'pull_request.state']);
  assert.equal(payloadFaults(SHAPE, 'pull_request', { action: 'open' }), null);
});
