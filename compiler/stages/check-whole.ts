/** Runs the checks that concern the whole config: environment, settings, exposed secrets and lost digits. */

import { join } from 'node:path';
import type { ProfileConfig } from '../../schemas/generated/types.ts';
import { invalidVariables } from '../config/overrides.ts';
import type { EffectiveSettings } from '../config/webhook-settings.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import { applyRules } from '../rules/support/rule.ts';
import type { Places } from '../source/file-tree.ts';
import type { Files } from '../source/files.ts';
import type { Report } from '../source/report.ts';
import { isPlainMap } from '../text/plain-map.ts';
import { isSecretName } from '../text/secret-names.ts';
import { START } from '../text/source-text.ts';
import type { ConfigView } from '../views/views.ts';
import type { CheckedProfile } from './check-config.ts';
import { adapterSecrets, checkExposure, literalGatewaySecrets, profileSecrets } from './check-exposure.ts';
import { checkPrograms } from './check-programs.ts';

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
  for (const { config, home, tree: own } of profiles) {
    const isRoot = own === tree;
    const rootSecrets = isRoot ? [...adapterSecrets(settings), ...literalGatewaySecrets(view.config.gateway)] : [];
    checkExposure([...rootSecrets, ...profileSecrets(config)], own, files, report);
    checkPrograms(config, join(view.scope.facts.home, home), { tree: own, files }, report);
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

/** A map whose values become addresses or settings of a target. */
interface TextMap {
  readonly value: unknown;
  readonly path: NodePath;
}

/**
 * Warns about numbers in these maps, at any depth, that are used as text and lose digits: YAML reads `1712.50` as 1712.5.
 */
function checkDigits(maps: readonly TextMap[], tree: Places, report: Report): void {
  for (const { value, path } of maps.flatMap(numbersIn)) {
    const { file, value: range } = tree.place(path);
    const written = file.source.text.slice(range.start, range.end);
    report.addProblems(lostDigits(value, written, path), tree);
  }
}

interface NumberPlace {
  readonly value: number;
  readonly path: NodePath;
}

function numbersIn({ value, path }: TextMap): readonly NumberPlace[] {
  if (typeof value === 'number') return [{ value, path }];
  if (!isPlainMap(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => numbersIn({ value: item, path: [...path, key] }));
}

/** @param written text of the number in the file; for an alias, the number is checked at its anchor */
function lostDigits(value: number, written: string, path: NodePath): readonly Problem[] {
  if (written === String(value) || !/^[-+.\d]/.test(written)) return [];
  const at = { rule: 'lost-digits', path, at: 'value' } as const;
  // The message must not repeat a secret.
  if (isSecretName(String(path.at(-1)))) {
    const message = 'this is read as a number and loses digits';
    return [{ ...at, message, hint: 'write it in quotes', sensitive: true }];
  }
  return [{ ...at, message: `\`${written}\` is read as the number ${value}`, hint: `write '${written}' in quotes` }];
}
