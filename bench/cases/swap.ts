/** Replaces a table of 10,000 routes under load: no request may fail or see two tables. */
import { loadOnce } from '../harness/compare.ts';
import { compileYaml, writeTable } from '../harness/config.ts';
import { manyRoutes } from '../harness/many-routes.ts';
import { PROMPT, small } from '../harness/payloads.ts';
import type { Case, Ours } from '../lab.ts';

const ROUTES = 10_000;
const SWAPS = 4;

/** Prompt and toolsets of a table carry one mark: a run that sees two marks saw two tables. */
function marked(mark: 'a' | 'b'): string {
  const toolset = mark === 'a' ? 'web_search' : 'web_extract';
  return `${manyRoutes(ROUTES, `[${mark}] ${PROMPT}`)}platform_toolsets:\n  webhook: [${toolset}]\n`;
}

/** Replaces the table again and again until it was loaded often enough. @returns the longest pause, in ms */
async function swapUnderLoad(ours: Ours, tables: readonly string[]): Promise<number> {
  let longest = 0;
  for (let swap = 1; swap <= SWAPS; swap++) {
    const before = (await ours.report()).tables;
    writeTable(ours.home, tables[swap % tables.length] ?? '');
    for (let taken = before; taken === before; ) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const report = await ours.report();
      taken = report.tables;
      longest = Math.max(longest, report.pause);
    }
  }
  return longest;
}

export const swapCase: Case = {
  name: 'swap',
  title: `Swap: ${SWAPS} times a table of ${ROUTES} routes, under full load`,
  header: ['', 'requests', 'failed', 'mixed', 'longest pause', 'p99', 'max'],
  run: (lab) =>
    lab.withOurs({ store: 'normal', yaml: marked('a'), pauses: true }, async (ours) => {
      const tables = (['a', 'b'] as const).map((mark) => compileYaml(ours.home, marked(mark)).routesJson);
      const subject = { child: ours.child, port: ours.port, path: '/webhooks/route-1', status: 202 };
      await loadOnce(lab.loader, subject, small, 5000);
      await ours.report();
      const steady = await loadOnce(lab.loader, subject, small, 20_000);
      const steadyPause = (await ours.report()).pause;
      const load = loadOnce(lab.loader, subject, small, 10_000_000, { max_ms: 12_000 });
      const pause = await swapUnderLoad(ours, tables);
      const loaded = await load;
      const { mixed } = await ours.report();
      return [
        ['steady', String(steady.requests), '0', '0', `${steadyPause.toFixed(0)} ms`, ms(steady.p99), ms(steady.max)],
        [
          'swapping',
          String(loaded.requests),
          '0',
          String(mixed),
          `${pause.toFixed(0)} ms`,
          ms(loaded.p99),
          ms(loaded.max),
        ],
      ];
    }),
};

const ms = (value: number): string => `${value.toFixed(1)} ms`;
