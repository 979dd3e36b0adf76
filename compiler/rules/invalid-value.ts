/** A value that is not allowed. */

import { PROXIES, parseNetwork } from '../config/network.ts';
import type { EffectiveSettings } from '../config/webhook-settings.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { publicUrlProblems } from './support/public-url.ts';
import type { ViewRule } from './support/view-rule.ts';

export const invalidValue = {
  id: 'invalid-value',
  checkRoute({ config }): readonly Problem[] {
    return publicUrlProblems('invalid-value', config.public_url);
  },
  checkConfig({ config, settings }): readonly Problem[] {
    const path = settings.pathOf('trusted_proxies') ?? [];
    const proxies = (settings.values.trusted_proxies ?? []).flatMap((text, index): readonly Problem[] => {
      if (parseNetwork(text) !== null) return [];
      const message = `\`${text}\` is neither an address nor a network`;
      return [{ rule: 'invalid-value', path: [...path, index], at: 'value', message, hint: PROXIES }];
    });
    return [...publicUrlProblems('invalid-value', config.public_url), ...hostProblems(settings), ...proxies];
  },
} as const satisfies ViewRule;

/** `host: http://0.0.0.0:8644`: a URL, or a host with a port. */
function hostProblems({ values, pathOf }: EffectiveSettings): readonly Problem[] {
  const [, scheme, host = '', port] = /^([a-z]+:\/\/)?([\w.-]*)(?::(\d{1,5}))?\/?$/i.exec(values.host ?? '') ?? [];
  const path = pathOf('host');
  if (path === null || host === '' || (scheme === undefined && port === undefined)) return [];
  const isFree = port !== undefined && values.port === undefined;
  const lines = [`host: ${host}`, ...(isFree ? [`port: ${port}`] : [])].map((line) => `\`${line}\``);
  const message = `\`host\` must be only a name or an address: write ${lines.join(' and ')}`;
  const fix = { kind: 'flow', text: host, ...(isFree ? { andKey: `port: ${port}` } : {}) } as const;
  return [{ rule: 'invalid-value', path, at: 'value', message, fix, fixAt: path }];
}
