/** Compiles configs in a separate process, built as the package is. Receives sizes as messages, and returns seconds. */
import { performance } from 'node:perf_hooks';
import { compileYaml, tempFolder } from './config.ts';
import { manyRoutes } from './many-routes.ts';
import { PROMPT } from './payloads.ts';
import { median } from './stats.ts';

export interface CompileOrder {
  readonly routes: number;
  readonly times: number;
}

const folder = tempFolder();

/** Median seconds of several compiles. */
function seconds({ routes, times }: CompileOrder): number {
  const yaml = manyRoutes(routes, PROMPT);
  const all = Array.from({ length: times }, () => {
    const started = performance.now();
    compileYaml(folder, yaml);
    return (performance.now() - started) / 1000;
  });
  return median(all);
}

process.on('message', (order: CompileOrder) => process.send?.({ seconds: seconds(order) }));
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
