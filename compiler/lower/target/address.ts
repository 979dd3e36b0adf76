/** Lowers the settings and address fields of a target file. */
import type { AddressPlan, SettingPlan, TargetAddress, TargetSettings } from '../../../schemas/generated/types.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import { targetAddress } from '../../rules/target-address.ts';
import { targetSetting } from '../../rules/target-setting.ts';
import type { TargetScope } from './scope.ts';
import { lowerPattern } from './scope.ts';
import { RESERVED_NAMES } from './value-template.ts';

/** Keys every entry under `platforms` knows: no setting can be called so. `api_base` may, to say what it is for. */
const CONFIG_KEYS = ['enabled', 'variant', 'home_channel', 'retry_ambiguous', 'allow_http', 'max_attempts'];

export function lowerSettings(settings: TargetSettings, path: NodePath, scope: TargetScope): SettingPlan[] {
  const taken = new Map<string, string>();
  return Object.entries(settings).map(([name, setting]) => {
    const aliases = setting.aliases ?? [];
    for (const one of [name, ...aliases]) {
      const why = takenName(one, taken.get(one)) ?? (one === name ? reservedName(one) : null);
      if (why !== null) scope.report({ rule: targetSetting, path: [...path, name], at: 'key', message: why });
      taken.set(one, name);
    }
    const pattern = setting.pattern;
    return {
      name,
      aliases,
      secret: setting.secret ?? false,
      required: setting.required ?? false,
      default: setting.default === undefined ? null : String(setting.default),
      pattern: pattern === undefined ? null : lowerPattern(pattern, [...path, name, 'pattern'], scope),
    };
  });
}

function takenName(name: string, owner: string | undefined): string | null {
  if (owner !== undefined) return `\`${name}\` already names the setting \`${owner}\``;
  return CONFIG_KEYS.includes(name) ? `\`${name}\` is a key of every target's config` : null;
}

/** Aliases are not named in texts and may be called so. */
function reservedName(name: string): string | null {
  if (RESERVED_NAMES.includes(name) || name === 'chat_id' || name === 'thread') {
    return `\`${name}\` is the name of a value of the delivery; call the setting something else`;
  }
  return null;
}

export function lowerAddress(address: TargetAddress, path: NodePath, scope: TargetScope): AddressPlan[] {
  return Object.entries(address).map(([name, field]) => {
    const clash = Object.hasOwn(scope.settings, name) ? 'a setting' : 'a value of the delivery';
    if (RESERVED_NAMES.includes(name) || Object.hasOwn(scope.settings, name)) {
      const message = `\`${name}\` is already the name of ${clash}`;
      scope.report({ rule: targetAddress, path: [...path, name], at: 'key', message });
    }
    const pattern = field.pattern;
    return {
      name,
      required: field.required ?? false,
      pattern: pattern === undefined ? null : lowerPattern(pattern, [...path, name, 'pattern'], scope),
    };
  });
}
