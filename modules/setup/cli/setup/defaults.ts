/** The defaults of `gateway setup --yes`: webhooks enabled, with a secret. */

import { valueAt } from '../../../../compiler/schema/pointer.ts';
import type { SetupAnswers } from './answers.ts';
import { GENERATE } from './answers.ts';

export function withDefaults(answers: SetupAnswers, config: unknown): SetupAnswers {
  const current = (key: string): unknown =>
    valueAt(config, ['platforms', 'webhook', 'extra', key]) ?? valueAt(config, ['platforms', 'webhook', key]);
  const enabled = answers.webhook.enabled ?? current('enabled') ?? true;
  const secret = answers.secret ?? (current('secret') === undefined ? GENERATE : undefined);
  return {
    ...answers,
    webhook: { enabled: enabled === true, ...answers.webhook },
    ...(secret === undefined ? {} : { secret }),
  };
}
