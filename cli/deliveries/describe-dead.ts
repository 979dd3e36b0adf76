/** Says which deliveries were given up, for `gateway status` and `doctor`. */
import type { DeadWork } from '../../runtime/store/queries.ts';
import { formatDuration } from '../output/time.ts';
import { ownerText } from './owner-text.ts';

const MAX_NAMED = 5;

/** `3 deliveries are dead: 2 of alerts since 2 h, 1 of job standup since 5 min`; null when there are none. */
export function describeDead(dead: readonly DeadWork[], now: number): string | null {
  const total = dead.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return null;
  const oldest = [...dead].sort((a, b) => a.since - b.since);
  const named = oldest.slice(0, MAX_NAMED).map((work) => {
    return `${work.count} of ${ownerOf(work)} since ${formatDuration(now - work.since)}`;
  });
  const others = oldest.length > MAX_NAMED ? [`those of ${oldest.length - MAX_NAMED} others`] : [];
  return `${total === 1 ? '1 delivery is' : `${total} deliveries are`} dead: ${[...named, ...others].join(', ')}`;
}

/** What lists them. */
export const LIST_DEAD = 'hookwright deliveries list --state dead';

function ownerOf({ profile, ...of }: DeadWork): string {
  const name = ownerText(of);
  return profile === 'default' ? name : `${name} (profile ${profile})`;
}
