/** Compile time by number of routes: it must stay linear. */
import { Child } from '../harness/child.ts';
import type { CompileOrder } from '../harness/compile-process.ts';
import type { Case } from '../lab.ts';

const SIZES = [100, 1000, 10_000] as const;

export const compileCase: Case = {
  name: 'compile',
  title: 'Compile: YAML to routes.json, from a file on disk',
  header: ['routes', 'total', 'per route', 'ratio to 1,000', 'goal'],
  async run(lab) {
    const { child } = await Child.start('harness/compile-process.js');
    const measure = async (order: CompileOrder): Promise<number> =>
      (await child.ask<{ seconds: number }>(order)).seconds;
    await measure({ routes: 1000, times: 3 });
    const totals: number[] = [];
    for (const routes of SIZES) {
      totals.push(await measure({ routes, times: routes === 10_000 ? (lab.quick ? 1 : 3) : 7 }));
    }
    await child.stop();
    const perThousand = (totals[1] ?? Number.NaN) / 1000;
    return SIZES.map((routes, index) => {
      const total = totals[index] ?? Number.NaN;
      const goal = routes === 10_000 ? '<= 1.3' : '';
      const each = total / routes;
      return [
        String(routes),
        `${total.toFixed(2)} s`,
        `${(each * 1e6).toFixed(0)} us`,
        (each / perThousand).toFixed(2),
        goal,
      ];
    });
  },
};
