/** Runs the checks that concern the whole config: environment, settings, exposed secrets and lost digits. */
import type { ProfileConfig } from '../schemas/generated/types.ts';
import type { TextMap } from './check-digits.ts';
import { checkDigits } from './check-digits.ts';
import { adapterSecrets, checkExposure, literalGatewaySecrets, profileSecrets } from './check-exposure.ts';
import { invalidVariables } from './config/overrides.ts';
import type { EffectiveSettings } from './config/webhook-settings.ts';
import type { CheckedProfile } from './lower-base.ts';
import type { Report } from './report.ts';
import { applyRules } from './rules/support/rule.ts';
import type { Places } from './source/file-tree.ts';
import type { Files } from './source/files.ts';
import { START } from './text/source-text.ts';
import type { ConfigView } from './views/views.ts';

export interface WholeConfig {
  readonly view: ConfigView;
  readonly tree: Places;
  /** Includes `default`, which has the root config's tree. */
  readonly profiles: readonly CheckedProfile[];
  readonly files: Files;
}

/** The source text that problems of variables refer to. */
const ENVIRONMENT = { path: 'environment', name: 'environment', text: '' };

export function checkWhole({ view, tree, profiles, files }: WholeConfig, report: Report): void {
  const { settings } = view;
  const invalid = invalidVariables((name) => view.variables.get(name)?.value);
  report.add(invalid.map((message) => ({ rule: 'invalid-environment', source: ENVIRONMENT, range: START, message })));
  report.addProblems(applyRules(view.scope.rules, 'config', view), tree);
  for (const { config, tree: own } of profiles) {
    const isRoot = own === tree;
    const rootSecrets = isRoot ? [...adapterSecrets(settings), ...literalGatewaySecrets(view.config.gateway)] : [];
    checkExposure([...rootSecrets, ...profileSecrets(config)], own, files, report);
    checkDigits([...(isRoot ? routeAddresses(settings) : []), ...profileTexts(config)], own, report);
  }
}

const routeAddresses = (settings: EffectiveSettings): readonly TextMap[] =>
  settings.routes.map(({ config, path }) => ({ value: config.deliver_extra, path: [...path, 'deliver_extra'] }));

/** The maps whose values are used as text: addresses of jobs, settings of targets. */
function profileTexts({ jobs = {}, platforms }: ProfileConfig): readonly TextMap[] {
  const addresses = Object.entries(jobs).map(([name, { deliver_extra }]) => ({
    value: deliver_extra,
    path: ['jobs', name, 'deliver_extra'],
  }));
  return [...addresses, { value: platforms, path: ['platforms'] }];
}
