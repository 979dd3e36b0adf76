/** A setting that a variable overrides. */
import type { Problem } from '../diagnostics/problem.ts';
import type { ConfigView } from '../views/config-views.ts';
import type { ViewRule } from './support/view-rule.ts';

export const overriddenSetting = {
  id: 'overridden-setting',
  checkConfig(view): readonly Problem[] {
    return [secretProblem(view), ...plainProblems(view)].flatMap((problem) => problem ?? []);
  },
} as const satisfies ViewRule;

const RULE = 'overridden-setting';
const HINT = 'remove one of the two';

function secretProblem({ settings, overrides, variables }: ConfigView): Problem | null {
  const { secret } = settings.values;
  const path = settings.pathOf('secret');
  const variable = 'WEBHOOK_SECRET';
  if (!overrides.secret || path === null || secret === `env:${variable}`) return null;
  if (secret === variables.get(variable)?.value) return null;
  const message = `\`${variable}\`${originOf(variable, { variables })} replaces this secret`;
  return { rule: RULE, path, at: 'value', message, hint: HINT, sensitive: true };
}

function plainProblems({ config, settings, overrides, variables }: ConfigView): readonly Problem[] {
  const written = [
    ['WEBHOOK_HOST', overrides.host, settings.values.host, settings.pathOf('host')],
    ['WEBHOOK_PORT', overrides.port, settings.values.port, settings.pathOf('port')],
    ['WEBHOOK_ENABLED', overrides.enabled, config.platforms?.webhook?.enabled, ['platforms', 'webhook', 'enabled']],
  ] as const;
  return written.flatMap(([variable, used, here, path]): readonly Problem[] => {
    // `webhook-disabled` reports a disabled server. A command-line flag overrides both and is no surprise.
    if (
      used === null ||
      used === false ||
      here === undefined ||
      path === null ||
      used === here ||
      !isSaid(variable, used, variables)
    ) {
      return [];
    }
    const message = `\`${variable}\`${originOf(variable, { variables })} replaces \`${String(path.at(-1))}: ${here}\` by \`${used}\``;
    return [{ rule: RULE, path, at: 'value', message, hint: HINT }];
  });
}

const isSaid = (variable: string, used: string | number | boolean, variables: ConfigView['variables']): boolean => {
  const value = variables.get(variable)?.value;
  return value !== undefined && (typeof used === 'boolean' || String(used) === value || Number(value) === used);
};

const originOf = (variable: string, { variables }: Pick<ConfigView, 'variables'>): string => {
  const origin = variables.get(variable)?.origin;
  return origin === undefined ? '' : ` of ${origin}`;
};
