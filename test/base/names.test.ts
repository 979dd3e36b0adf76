/** Names are texts of users: one that every object inherits is not an entry of a map. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentPlan, own } from '../../base/names.ts';
import { targetNamed } from '../../compiler/config/route-keys.ts';
import { functionFor } from '../../runtime/dispatch/agents/create-agents.ts';

for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty'])
  test(`finds no ${name} that is not written`, () => {
    assert.equal(own({ a: 1 }, name), undefined);
    assert.equal(targetNamed({ a: 'a' }, name), null);
    assert.equal(agentPlan({ agent: 1, agents: { a: 2 } }, name), null);
    assert.equal(functionFor({}, name), null);
  });

test('finds what is written', () => {
  assert.equal(own({ constructor: 1 } as Record<string, number>, 'constructor'), 1);
  assert.equal(agentPlan({ agent: 1, agents: { a: 2 } }, 'a'), 2);
  assert.equal(agentPlan({ agent: 1, agents: { a: 2 } }, null), 1);
});
