/** Tests misspelt paths: a sample of all one-letter edits. `npm run test:long -- typos` tries one in fifty, and two more events. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countTypos } from '../../../helpers/path-typos.ts';
import { shippedForms } from '../../../helpers/shapes.ts';

const IS_LONG = process.env.HOOKWRIGHT_LONG_TESTS === '1';
const LONG_STEP = 50;
/** Sampling interval of edits: some hundreds per event. */
const SAMPLES: readonly (readonly [source: string, event: string, step: number])[] = [
  ['github', 'pull_request', 8009],
  ['gitlab', 'Merge Request Hook', 997],
  ['shopify', 'orders/create', 5003],
  ['linear', 'Issue', 2003],
  ...(IS_LONG
    ? ([
        ['slack', 'app_mention', LONG_STEP],
        ['stripe', 'customer.created', LONG_STEP],
      ] as const)
    : []),
];

describe('one-letter edits of the paths of an event', () => {
  for (const [source, event, step] of SAMPLES) {
    test(`${source} ${event}: 99 in 100 are reported, 9 in 10 with the right suggestion first`, () => {
      const { tried, reported, right, missed, wrong } = countTypos(
        shippedForms(source, event),
        IS_LONG ? LONG_STEP : step,
      );
      assert.ok(tried > 200, String(tried));
      assert.ok(reported / tried >= 0.99, missed.join('\n'));
      assert.ok(right / tried >= 0.9, wrong.join('\n'));
    });
  }
});
