/** Compile time by number of routes: it must stay linear. */
import { performance } from 'node:perf_hooks';
import { compileYaml, tempFolder } from '../harness/config.ts';
import type { Case } from '../harness/lab.ts';
import { manyRoutes } from '../harness/many-routes.ts';
import { PROMPT } from '../harness/payloads.ts';
import { median } from '../harness/stats.ts';

/** Median seconds of several compiles. */
function seconds(count: number, times: number): number {
  const folder = tempFolder();
  const yaml = manyRoutes(count, PROMPT);
  const all = Array.from({ length: times }, () => {
    const started = performance.now();
    compileYaml(folder, yaml);
    return (performance.now() - started) / 1000;
  });
  return median(all);
}

export const compileCase: Case = {
  name: 'compile',
  title: 'Compile: YAML to routes.json, from a file on disk',
  header: ['routes', 'total', 'per route', 'ratio to 1,000', 'goal'],
  run(lab) {
    seconds(1000, 2);
    const sizes = [100, 1000, 10_000] as const;
    const totals = sizes.map((count) => seconds(count, count === 10_000 ? (lab.quick ? 1 : 3) : 5));
    const perThousand = (totals[1] ?? Number.NaN) / 1000;
    const rows = sizes.map((count, index) => {
      const total = totals[index] ?? Number.NaN;
      const ratio = total / count / perThousand;
      const goal = count === 10_000 ? '<= 1.3' : '';
      return [
        String(count),
        `${total.toFixed(2)} s`,
        `${((total / count) * 1e6).toFixed(0)} us`,
        ratio.toFixed(2),
        goal,
      ];
    });
    return Promise.resolve(rows);
  },
};
