/** An environment variable with an invalid value. */

import { isPort, isSwitch } from '../config/overrides.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import { START } from '../text/source-text.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const invalidEnvironment = {
  id: 'invalid-environment',
  /** @param read returns the value of a variable, or undefined if it is not set */
  check(read: (name: string) => string | undefined): readonly Finding[] {
    const isWrong = (name: string, isRight: (text: string) => boolean): boolean => {
      const text = read(name) ?? '';
      return text !== '' && !isRight(text);
    };
    const messages = [
      ...(isWrong('WEBHOOK_ENABLED', isSwitch) ? ['WEBHOOK_ENABLED must be `true` or `false`'] : []),
      ...(isWrong('WEBHOOK_PORT', isPort) ? ['WEBHOOK_PORT must be a whole number from 0 to 65535'] : []),
    ];
    return messages.map((message) => ({ rule: 'invalid-environment', source: ENVIRONMENT, range: START, message }));
  },
} as const satisfies ListedRule;

/** The source text that problems of variables refer to. */
const ENVIRONMENT = { path: 'environment', name: 'environment', text: '' };
