/** A target that does not exist (§4.4). */

import { DEFAULT_PROFILE } from '../../base/profiles.ts';
import { targetNamed, writtenTargets } from '../config/deliveries.ts';
import { targetEntries } from '../config/target-entries.ts';
import { didYouMean, renameFix } from '../text/suggest.ts';
import type { Receiver } from './support/receivers.ts';
import { deliveryRule } from './support/receivers.ts';
import { targetWithAddress } from './support/target-with-address.ts';
import { deliverPath } from './support/targets.ts';

export const unknownTarget = deliveryRule('unknown-target', checkTargets, {
  profile({ name: profile, config, scope }, report) {
    const names = scope.table.target_names;
    const known = [...Object.keys(names), ...(profile === DEFAULT_PROFILE ? ['webhook'] : [])];
    for (const [name] of targetEntries(config)) {
      if (targetNamed(names, name) !== null || scope.invalidNames.has(`target:${name}`)) continue;
      const message =
        name === 'webhook'
          ? '`webhook` is not a target: one webhook server serves all profiles, and it is configured in the root config'
          : `there is no delivery target \`${name}\`${didYouMean(name, known)}`;
      report({ path: ['platforms', name], at: 'key', message, ...renameFix(name, known) });
    }
  },
});

const URL_HINT = 'a URL is not a target: name one (`slack`, `telegram`, …), and set it up under `platforms`';

function checkTargets({ config, scope, words, report }: Receiver): void {
  const names = scope.table.target_names;
  const known = [...Object.keys(names), ...words];
  for (const written of writtenTargets(config.deliver)) {
    const { name, index } = written;
    if (targetNamed(names, name) !== null || words.includes(name) || scope.invalidNames.has(`target:${name}`)) continue;
    const at = { path: deliverPath(index), at: 'value' } as const;
    const addressed = targetWithAddress(written, config, scope.table);
    if (addressed !== null) {
      report({ ...at, ...addressed });
      continue;
    }
    const message = `there is no delivery target \`${name}\`${didYouMean(name, known)}`;
    const isUrl = /^https?:\/\//.test(name) ? { hint: URL_HINT, sensitive: true } : {};
    report({ ...at, message, ...isUrl, ...renameFix(name, known) });
  }
}
