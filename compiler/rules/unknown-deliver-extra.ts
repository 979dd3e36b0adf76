/** A key of an address that no target uses. */

import { addressKeys, targetNamed, writtenTargets } from '../config/deliveries.ts';
import { isPlainMap } from '../text/plain-map.ts';
import { didYouMean, oneOf } from '../text/suggest.ts';
import type { Reported } from '../views/views.ts';
import { meantField } from './support/address-names.ts';
import type { Receiver } from './support/receivers.ts';
import { deliveryRule } from './support/receivers.ts';
import { deliveryTargets } from './support/targets.ts';

export const unknownDeliverExtra = deliveryRule('unknown-deliver-extra', checkKeys);

function checkKeys({ config, scope, report }: Receiver): void {
  const written = writtenTargets(config.deliver);
  const targets = deliveryTargets(config, scope.table);
  // An unknown target, one whose own mistakes are reported, or a word such as `origin`, may accept any key.
  const isUnknown = written.some(({ name }) => scope.invalidNames.has(`target:${name}`));
  if (isUnknown || targets.length < written.length || config.deliver_extra === undefined) return;
  const required = targets.flatMap(({ plan }) => plan.address.filter((field) => field.required));
  const needed = required.map(({ name }) => name).filter((name) => !Object.hasOwn(config.deliver_extra ?? {}, name));
  const all = targets.flatMap(({ plan }) => addressKeys(plan));
  for (const [key, value] of Object.entries(config.deliver_extra)) {
    // `missing-deliver-extra` reports a required field under another name.
    if (meantField(key, needed) !== null) continue;
    if (!isPlainMap(value)) {
      if (!all.includes(key)) report(unknown([key], all, config.deliver_extra));
      continue;
    }
    const target = targetNamed(scope.table.target_names, key);
    const own = targets.find(({ plan }) => plan.name === target);
    if (own === undefined) {
      const groups = written.map(({ name }) => name);
      report(unknown([key], groups));
      continue;
    }
    const keys = addressKeys(own.plan);
    for (const name of Object.keys(value)) if (!keys.includes(name)) report(unknown([key, name], keys, value));
  }
}

function unknown(
  path: readonly string[],
  known: readonly string[],
  written: Readonly<Record<string, unknown>> = {},
): Reported {
  const key = path.at(-1) ?? '';
  const at = { path: ['deliver_extra', ...path], at: 'key' } as const;
  const message = `no target of this entry reads \`deliver_extra.${path.join('.')}\``;
  const meant = meantField(key, known);
  if (meant !== null && !Object.hasOwn(written, meant))
    return { ...at, message: `${message}: it is called \`${meant}\``, fix: { kind: 'rename', text: meant } };
  const guess = didYouMean(key, known);
  if (guess !== '') return { ...at, message: `${message}${guess}` };
  const hint = known.length === 0 ? 'this target takes none' : `known here: ${oneOf([...new Set(known)], 'and')}`;
  return { ...at, message, hint };
}
