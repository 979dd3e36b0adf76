/** A source whose requests can be replayed. */
import type { SchemePlan } from '../../schemas/generated/types.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const noReplayProtection = {
  id: 'no-replay-protection',
  checkRoute({ config, schemes, scope, insecure }): readonly Problem[] {
    if (config.source === undefined || insecure || !schemes.some(isReplayable)) return [];
    const better = Object.values(scope.table.schemes).find(
      ({ name, timestamp }) => timestamp !== null && schemes.some((scheme) => name.startsWith(`${scheme.name}-`)),
    );
    const message = `\`${config.source}\` signs no timestamp and sends no delivery id: a recorded request can be sent again`;
    const hint = better === undefined ? {} : { hint: `its \`${better.name}\` signs a timestamp` };
    return [{ rule: 'no-replay-protection', path: ['source'], at: 'value', message, ...hint }];
  },
} as const satisfies ViewRule;

/** False for tokens: whoever reads a request has the token and needs no replay (see `token-without-tls`). */
function isReplayable({ verify, timestamp, delivery, delivery_digest }: SchemePlan): boolean {
  if (verify === 'token' || verify === 'basic' || verify === 'none') return false;
  return timestamp === null && delivery.length === 0 && !delivery_digest;
}
