/** A setting that a variable overrides. */
import type { ConfigView, Reporter } from '../views/views.ts';
import { rule } from './support/rule.ts';

export const overriddenSetting = rule('overridden-setting', {
  config(view, report) {
    checkSecret(view, report);
    checkPlain(view, report);
  },
});

const HINT = 'remove one of the two';

function checkSecret({ settings, overrides, variables }: ConfigView, report: Reporter): void {
  const { secret } = settings.values;
  const path = settings.pathOf('secret');
  const variable = 'WEBHOOK_SECRET';
  if (!overrides.secret || path === null || secret === `env:${variable}`) return;
  if (secret === variables.get(variable)?.value) return;
  const message = `\`${variable}\`${originOf(variable, variables)} replaces this secret`;
  report({ path, at: 'value', message, hint: HINT, sensitive: true });
}

function checkPlain({ config, settings, overrides, variables }: ConfigView, report: Reporter): void {
  const written = [
    ['WEBHOOK_HOST', overrides.host, settings.values.host, settings.pathOf('host')],
    ['WEBHOOK_PORT', overrides.port, settings.values.port, settings.pathOf('port')],
    ['WEBHOOK_ENABLED', overrides.enabled, config.platforms?.webhook?.enabled, ['platforms', 'webhook', 'enabled']],
  ] as const;
  for (const [variable, used, here, path] of written) {
    // `webhook-disabled` reports a disabled server. A command-line flag overrides both and is no surprise.
    if (used === null || used === false || here === undefined || path === null || used === here) continue;
    if (!isSaid(variable, used, variables)) continue;
    const message = `\`${variable}\`${originOf(variable, variables)} replaces \`${String(path.at(-1))}: ${here}\` by \`${used}\``;
    report({ path, at: 'value', message, hint: HINT });
  }
}

const isSaid = (variable: string, used: string | number | boolean, variables: ConfigView['variables']): boolean => {
  const value = variables.get(variable)?.value;
  return value !== undefined && (typeof used === 'boolean' || String(used) === value || Number(value) === used);
};

const originOf = (variable: string, variables: ConfigView['variables']): string => {
  const origin = variables.get(variable)?.origin;
  return origin === undefined ? '' : ` of ${origin}`;
};
