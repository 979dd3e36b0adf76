/** A variable that cannot be understood. */

import { isPort, isSwitch } from '../config/overrides.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import { START } from '../text/source-text.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const invalidEnvironment = {
  id: 'invalid-environment',
  group: 'config',
  severity: 'error',
  title: '`WEBHOOK_ENABLED` or `WEBHOOK_PORT` holds something else than a truth value or a port.',
  why: "Going on with the config file's value would start a server nobody asked for.",
  /** @param read a variable; undefined: it is not set */
  check(read: (name: string) => string | undefined): readonly Finding[] {
    const isWrong = (name: string, isRight: (text: string) => boolean): boolean => {
      const text = read(name) ?? '';
      return text !== '' && !isRight(text);
    };
    const messages = [
      ...(isWrong('WEBHOOK_ENABLED', isSwitch) ? ['WEBHOOK_ENABLED must be `true` or `false`'] : []),
      ...(isWrong('WEBHOOK_PORT', isPort) ? ['WEBHOOK_PORT must be a whole number from 0 to 65535'] : []),
    ];
    return messages.map((message) => ({ rule: invalidEnvironment, source: ENVIRONMENT, range: START, message }));
  },
} as const satisfies ListedRule;

/** Stands for the place of what is wrong with a variable. */
const ENVIRONMENT = { path: 'environment', name: 'environment', text: '' };
