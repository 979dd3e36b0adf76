/** Memory: it must not grow with the number of events that a server has processed. */
import { loadOnce } from '../harness/compare.ts';
import { small } from '../harness/payloads.ts';
import type { Case, Ours } from '../lab.ts';

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Resident set once all accepted work is finished. */
async function settledRss(ours: Ours): Promise<number> {
  for (;;) {
    const { open, rss } = await ours.report();
    if (open === 0) return rss;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export const memoryCase: Case = {
  name: 'memory',
  title: 'Memory: resident set after many requests (SQLite store, durability normal)',
  header: ['after requests', 'resident', 'ratio', 'goal'],
  run: (lab) =>
    lab.withOurs({ store: 'normal' }, async (ours) => {
      const [first, second] = lab.quick ? [5000, 20_000] : [20_000, 200_000];
      const subject = { child: ours.child, port: ours.port, path: '/webhooks/agent', status: 202 };
      await loadOnce(lab.loader, subject, small, first, { max_ms: 300_000 });
      const early = await settledRss(ours);
      await loadOnce(lab.loader, subject, small, second - first, { max_ms: 300_000 });
      const late = await settledRss(ours);
      return [
        [String(first), megabytes(early), '', ''],
        [String(second), megabytes(late), (late / early).toFixed(2), '<= 1.3'],
      ];
    }),
};
