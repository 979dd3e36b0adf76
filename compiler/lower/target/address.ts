/** Lowers the settings and address fields of a target file. */
import type { AddressPlan, SettingPlan, TargetAddress, TargetSettings } from '../../../schemas/generated/types.ts';
import { COMMON_KEYS } from '../../config/target-entries.ts';
import { RESERVED_VALUES } from '../../config/target-scope.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import type { TargetScope } from './scope.ts';
import { lowerPattern } from './scope.ts';

export function lowerSettings(settings: TargetSettings, path: NodePath, scope: TargetScope): SettingPlan[] {
  checkNames(settings, path, scope);
  return Object.entries(settings).map(([name, setting]) => {
    const aliases = setting.aliases ?? [];
    const { pattern, lines = false } = setting;
    return {
      name,
      aliases,
      secret: setting.secret ?? false,
      required: setting.required ?? false,
      default: setting.default === undefined ? null : String(setting.default),
      pattern: pattern === undefined ? null : lowerPattern(pattern, [...path, name, 'pattern'], scope),
      ...(lines ? { lines } : {}),
    };
  });
}

export function lowerAddress(address: TargetAddress, path: NodePath, scope: TargetScope): AddressPlan[] {
  for (const name of Object.keys(address)) {
    const isSetting = Object.hasOwn(scope.settings, name);
    if (!isSetting && !RESERVED_VALUES.includes(name)) continue;
    const message = `\`${name}\` is already the name of ${isSetting ? 'a setting' : 'a value of the delivery'}`;
    scope.report({ rule: 'target-address', path: [...path, name], at: 'key', message });
  }
  return Object.entries(address).map(([name, field]) => {
    const pattern = field.pattern;
    return {
      name,
      required: field.required ?? false,
      pattern: pattern === undefined ? null : lowerPattern(pattern, [...path, name, 'pattern'], scope),
    };
  });
}

/** Whether each name of a setting means only this setting. */
function checkNames(settings: TargetSettings, path: NodePath, scope: TargetScope): void {
  const owners = new Map<string, string>();
  for (const [name, { aliases = [] }] of Object.entries(settings)) {
    for (const one of [name, ...aliases]) {
      const message = takenName(one, owners.get(one)) ?? (one === name ? reservedName(one) : null);
      owners.set(one, name);
      if (message !== null) scope.report({ rule: 'target-setting', path: [...path, name], at: 'key', message });
    }
  }
}

/** `api_base` may be the name of a setting, to describe it. */
const isCommonKey = (name: string): boolean => name !== 'api_base' && COMMON_KEYS.includes(name);

function takenName(name: string, owner: string | undefined): string | null {
  if (owner !== undefined) return `\`${name}\` already names the setting \`${owner}\``;
  return isCommonKey(name) ? `\`${name}\` is a key of every target's config` : null;
}

/** Aliases are not used in texts, so they may have these names. */
function reservedName(name: string): string | null {
  if (RESERVED_VALUES.includes(name) || name === 'chat_id' || name === 'thread') {
    return `\`${name}\` is the name of a value of the delivery; call the setting something else`;
  }
  return null;
}
