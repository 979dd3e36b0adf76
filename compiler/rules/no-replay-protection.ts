/** A source whose requests can be replayed. */
import type { SchemePlan } from '../../schemas/generated/types.ts';
import { rule } from './support/rule.ts';

export const noReplayProtection = rule('no-replay-protection', {
  route({ config, schemes, scope, insecure }, report) {
    if (config.source === undefined || insecure || !schemes.some(isReplayable)) return;
    const better = Object.values(scope.table.schemes).find(
      ({ name, timestamp }) => timestamp !== null && schemes.some((scheme) => name.startsWith(`${scheme.name}-`)),
    );
    const message = `\`${config.source}\` signs no timestamp and sends no delivery id: a recorded request can be sent again`;
    const hint = better === undefined ? {} : { hint: `its \`${better.name}\` signs a timestamp` };
    report({ path: ['source'], at: 'value', message, ...hint });
  },
});

/** False for tokens: whoever reads a request has the token and needs no replay (see `token-without-tls`). */
function isReplayable({ verify, timestamp, delivery, delivery_digest }: SchemePlan): boolean {
  if (verify === 'token' || verify === 'basic' || verify === 'none') return false;
  return timestamp === null && delivery.length === 0 && !delivery_digest;
}
