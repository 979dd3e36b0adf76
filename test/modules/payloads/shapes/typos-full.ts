/** The long form of typos.test.ts: `npm run test:typos [-- <step>]` prints what becomes of one edit in `step`, one in 50 by default. */
import { countTypos } from '../../../helpers/path-typos.ts';
import { shippedForms } from '../../../helpers/shapes.ts';

const EVENTS = [
  ['forgea', 'pull_request'],
  ['forgeb', 'Merge Request Hook'],
  ['shopify', 'orders/create'],
  ['linear', 'Issue'],
  ['slack', 'app_mention'],
  ['stripe', 'customer.created'],
] as const;

const step = Number(process.argv[2] ?? 50);
const percent = (part: number, whole: number): string => `${((part / whole) * 100).toFixed(2)} %`;

for (const [source, event] of EVENTS) {
  const { tried, paths, reported, right, missed, wrong } = countTypos(shippedForms(source, event), step);
  console.log(
    `${source} ${event}: ${tried} typos (and ${paths} other paths): ${percent(reported, tried)} reported, ${percent(right, tried)} right first`,
  );
  for (const each of missed) console.log(`  not reported: ${each}`);
  for (const each of wrong.slice(0, 5)) console.log(`  wrong: ${each}`);
}
