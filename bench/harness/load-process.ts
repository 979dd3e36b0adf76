/** The load generator as a process of its own: plans come in as messages, results go out. */
import type { LoadPlan } from './load.ts';
import { load } from './load.ts';

process.on('message', (plan: LoadPlan) => {
  load(plan).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
