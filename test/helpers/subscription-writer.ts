/**
 * A process that adds `s0`, `s1`, … to the subscriptions of a home, one change each, until it is killed. Prints `up`
 * first.
 */
import { updateSubscriptions } from '../../cli/subscriptions/subscription-file.ts';
import { contextFor } from './cli.ts';

const context = contextFor({ home: process.argv[2] ?? '' });
process.stdout.write('up\n');
for (let at = 0; ; at += 1) {
  await updateSubscriptions(context, (entries) => ({
    entries: new Map([...entries, [`s${at}`, { description: 'x'.repeat(20_000) }]]),
    result: null,
  }));
}
