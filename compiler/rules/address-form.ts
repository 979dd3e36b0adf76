/** An address that its target cannot take (§4.4). */
import type { TargetBinding, TargetPlan } from '../../schemas/generated/types.ts';
import { THREAD_KEYS, targetNamed } from '../config/deliveries.ts';
import { targetEntries } from '../config/target-entries.ts';
import { readPlaceholders } from '../config/template-grammar.ts';
import { linearRegex } from '../text/linear-regex.ts';
import { parseSecretRef } from '../text/secret-ref.ts';
import type { Reported } from '../views/views.ts';
import type { Receiver } from './support/receivers.ts';
import { deliveryRule } from './support/receivers.ts';
import { deliveryTargets } from './support/targets.ts';

export const addressForm = deliveryRule('address-form', checkAddresses, {
  profile({ config, scope: { table } }, report) {
    for (const [written, { home_channel: home }] of targetEntries(config)) {
      const plan = table.targets[targetNamed(table.target_names, written) ?? ''];
      if (plan === undefined || home === undefined || parseSecretRef(String(home), '').kind !== 'literal') continue;
      const form = missedForm(plan, undefined, 'chat_id', String(home));
      if (form !== null)
        report({ path: ['platforms', written, 'home_channel'], at: 'value', ...wordsFor(written, String(home), form) });
    }
  },
});

function checkAddresses({ config, profile, scope, hasPayload, report }: Receiver): void {
  for (const { name, plan, extra } of deliveryTargets(config, scope.table)) {
    for (const [key, { text, path }] of extra) {
      const [unfilled] = hasPayload ? [] : readPlaceholders(text);
      if (unfilled !== undefined) {
        const message = `nothing fills \`{${unfilled.path.join('.')}}\`: an address has no event here, and every delivery to it fails`;
        report({ path: ['deliver_extra', ...path], at: 'value', message, hint: 'write the address itself' });
        continue;
      }
      const form = missedForm(plan, profile?.targets[plan.name], THREAD_KEYS.includes(key) ? 'thread' : key, text);
      if (form !== null) report({ path: ['deliver_extra', ...path], at: 'value', ...wordsFor(name, text, form) });
    }
  }
}

const wordsFor = (target: string, value: string, form: string): Pick<Reported, 'message' | 'hint'> => ({
  message: `\`${target}\` takes no address like ${JSON.stringify(value)}: every delivery to it fails`,
  hint: `it has the form ${form}; docs/targets.md says where to find it`,
});

/**
 * Returns the form that the value lacks, as an RE2 pattern; null if it may be right, or has a placeholder. Each variant is
 * considered, unless the binding names one.
 * @param name a key of the target's address, such as `chat_id` or `thread`
 */
function missedForm(plan: TargetPlan, binding: TargetBinding | undefined, name: string, value: string): string | null {
  const variants = plan.variants.filter((variant) => binding === undefined || variant.name === binding.variant);
  const forms = (variants.length === 0 ? [plan] : variants).map(
    ({ address }) => address.find((field) => field.name === name)?.pattern ?? null,
  );
  // Other rules report braces that are no placeholder.
  if (value === '' || /[{}]/.test(value)) return null;
  return forms.some((form) => form === null || linearRegex(form).matches(value)) ? null : (forms[0] ?? null);
}
