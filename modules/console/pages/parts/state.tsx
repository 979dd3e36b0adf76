/** The states and outcomes of the gateway, as badges. */
import type { Kind } from './ui.tsx';
import { Badge } from './ui.tsx';

const STATES: Readonly<Record<string, Kind>> = {
  ...{ done: 'good', dead: 'bad', running: 'warn', delivering: 'warn' },
  ...{ serving: 'good', disabled: 'warn', quarantined: 'bad', shadowed: 'warn', unreachable: 'warn' },
  ...{ active: 'good', paused: 'warn', queued: 'calm' },
  ...{ accepted: 'good', coalesced: 'good', delivered: 'good', ignored: 'calm', duplicate: 'calm', challenge: 'calm' },
  ...{ lost: 'bad', stopped: 'calm', draining: 'warn', waiting: 'warn' },
};

export const State = ({ of }: { of: string }) => <Badge kind={STATES[of] ?? 'calm'}>{of}</Badge>;

/** An outcome with its reason: `ignored: filter`. What is neither taken nor ignored went wrong. */
export function OutcomeBadge({ outcome, reason }: { outcome: string; reason: string | null }) {
  const text = reason === null || reason === outcome ? outcome : `${outcome}: ${reason}`;
  return <Badge kind={STATES[outcome] ?? 'bad'}>{text.replaceAll('_', ' ')}</Badge>;
}
