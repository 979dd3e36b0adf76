/** Lowers the settings and address fields of a target file. */
import type { AddressPlan, SettingPlan, TargetAddress, TargetSettings } from '../../../schemas/generated/types.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import { targetAddress } from '../../rules/target-address.ts';
import { targetSetting } from '../../rules/target-setting.ts';
import type { TargetScope } from './scope.ts';
import { lowerPattern } from './scope.ts';

export function lowerSettings(settings: TargetSettings, path: NodePath, scope: TargetScope): SettingPlan[] {
  targetSetting.check(settings, path).forEach(scope.report);
  return Object.entries(settings).map(([name, setting]) => {
    const aliases = setting.aliases ?? [];
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

export function lowerAddress(address: TargetAddress, path: NodePath, scope: TargetScope): AddressPlan[] {
  targetAddress.check(address, scope.settings, path).forEach(scope.report);
  return Object.entries(address).map(([name, field]) => {
    const pattern = field.pattern;
    return {
      name,
      required: field.required ?? false,
      pattern: pattern === undefined ? null : lowerPattern(pattern, [...path, name, 'pattern'], scope),
    };
  });
}
