import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createControlHandlers, loadOperations } from '../../../cli/serve/serve-gateway.ts';
import { MODULES } from '../../../main/modules.ts';
import { INPUTS } from '../../../schemas/built/operations/inputs.ts';

test('exactly the described operations are implemented', async () => {
  const handlers = createControlHandlers({} as never, await loadOperations({ modules: MODULES } as never));
  assert.deepEqual(Object.keys(handlers).sort(), Object.keys(INPUTS).sort());
});
