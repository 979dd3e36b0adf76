/** A setting whose name is taken. */

import type { TargetSettings } from '../../schemas/generated/types.ts';
import { RESERVED_VALUES } from '../config/target-scope.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const targetSetting = {
  id: 'target-setting',
  check(settings: TargetSettings, path: NodePath): readonly Problem[] {
    const owners = new Map<string, string>();
    return Object.entries(settings).flatMap(([name, { aliases = [] }]) =>
      [name, ...aliases].flatMap((one): readonly Problem[] => {
        const message = takenName(one, owners.get(one)) ?? (one === name ? reservedName(one) : null);
        owners.set(one, name);
        return message === null ? [] : [{ rule: 'target-setting', path: [...path, name], at: 'key', message }];
      }),
    );
  },
} as const satisfies ListedRule;

/** Keys of every entry under `platforms`, which settings may not have as names. `api_base` is allowed, to describe it. */
const CONFIG_KEYS = ['enabled', 'variant', 'home_channel', 'retry_ambiguous', 'allow_http', 'max_attempts'];

function takenName(name: string, owner: string | undefined): string | null {
  if (owner !== undefined) return `\`${name}\` already names the setting \`${owner}\``;
  return CONFIG_KEYS.includes(name) ? `\`${name}\` is a key of every target's config` : null;
}

/** Aliases are not used in texts, so they may have these names. */
function reservedName(name: string): string | null {
  if (RESERVED_VALUES.includes(name) || name === 'chat_id' || name === 'thread') {
    return `\`${name}\` is the name of a value of the delivery; call the setting something else`;
  }
  return null;
}
