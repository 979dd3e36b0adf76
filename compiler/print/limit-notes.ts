/** Limits that lose events of a sender that never retries. The defaults are such limits, so these are notes, and no problems. */
import { schemeLabel } from '../../base/text.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import { oneOf } from '../text/suggest.ts';

/** Enough for the bursts of such senders. */
const PER_MINUTE = 300;
/** More routes are counted, not listed. */
const LISTED = 4;

/** Returns a note for each such sender with routes whose limits are below what it may send. */
export function limitNotes({ routes, server, source_facts }: RouteTable): readonly string[] {
  return Object.entries(source_facts).flatMap(([source, { attempts, burst, max_body_bytes: largest = 0 }]) => {
    const own = Object.values(routes).filter((route) => route.source === source);
    if (attempts !== 1 || own[0] === undefined) return [];
    const slow = own.filter(({ rate_limit }) => rate_limit < PER_MINUTE);
    const which =
      slow.length > LISTED
        ? `${slow.length} routes`
        : oneOf(
            slow.map(({ name }) => name),
            'and',
          );
    const rate = `\`rate_limit: ${PER_MINUTE}\` or more for ${which}`;
    const body = `\`max_body_bytes: ${largest}\` under \`platforms.webhook\``;
    const raise = [...(slow.length > 0 ? [rate] : []), ...(largest > server.max_body_bytes ? [body] : [])];
    if (raise.length === 0) return [];
    const sends = burst === undefined ? '' : `, and ${burst}`;
    const message = `\`${schemeLabel(own[0], source)}\` never sends a refused request again${sends}`;
    return [`${message}\n      set ${raise.join(' and ')}`];
  });
}
