/** The load generator as a separate process: receives plans as messages, and returns results. */
import type { LoadPlan } from './load.ts';
import { load } from './load.ts';
import type { OpenLoopPlan } from './open-loop.ts';
import { openLoop } from './open-loop.ts';

process.on('message', (plan: LoadPlan | OpenLoopPlan) => {
  const running = 'phases' in plan ? openLoop(plan) : load(plan);
  running.then(
    (result: object) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
