/** How many runs an agent may have at once: a program of a sandbox is alone in its folder. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitsOfAgents } from '../../../runtime/service/linked-work.ts';
import type { CommandAgentPlan } from '../../../schemas/generated/types.ts';
import { profilePlan } from '../../helpers/route-table.ts';

const SANDBOX = { network: [], read: [], write: [] };
const base: CommandAgentPlan = {
  ...{ kind: 'command', argv: ['cat'], cwd: null, work: 'run', env: {}, only_to: {}, sandbox: null },
  ...{ timeout_seconds: 5, max_attempts: 1, max_concurrent: null, toolsets: null },
};

test('an agent with a sandbox has one run at once where all runs have one folder', () => {
  const cases: readonly (readonly [Partial<CommandAgentPlan>, number | null])[] = [
    [{}, null],
    [{ max_concurrent: 3 }, 3],
    [{ work: 'shared' }, null],
    [{ sandbox: SANDBOX }, null],
    [{ sandbox: SANDBOX, work: 'route', max_concurrent: 3 }, 3],
    [{ sandbox: SANDBOX, work: 'shared' }, 1],
    [{ sandbox: SANDBOX, cwd: '~/project', max_concurrent: 3 }, 1],
  ];
  for (const [parts, limit] of cases) {
    const profile = { ...profilePlan('default'), agent: { ...base, ...parts } };
    const limits = limitsOfAgents({ profiles: { default: profile } });
    assert.deepEqual(
      limits.map(({ max_concurrent }) => max_concurrent),
      limit === null ? [] : [limit],
      JSON.stringify(parts),
    );
  }
});
