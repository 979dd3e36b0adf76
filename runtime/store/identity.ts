/** Identifiers of stored rows, delivery ids and the processes that work on them. */
import type { ClaimKey } from '../../schemas/built/operations/types.ts';
import type { Dispatch } from '../../schemas/generated/types.ts';

export type {
  ClaimKey,
  StoredClaim,
} from '../../schemas/built/operations/types.ts';

/** The number of a stored dispatch: it grows in the order of storing and is never reused. */
export type Ref = number;

/** Identifies the process that works on a row; unique for each start of a gateway. */
export type Holder = string;

/** The name of a claim, as JSON, so that neither a NUL nor a separator in untrusted text can forge another name. */
export const claimKey = ({ profile, route, delivery_id }: ClaimKey): string =>
  JSON.stringify([profile, route, delivery_id]);

/** The lane of a route's runs, or of the deliveries to a target, as JSON, so that no part can forge another lane. */
export const laneKey = (profile: string, name: string | null): string => JSON.stringify([profile, name]);

/** The lane of the runs of a route with an agent: that of the route, and the name of another agent than the default one on a line of its own. */
export const runLane = (profile: string, route: string | null, agent: string | null): string =>
  agent === null ? laneKey(profile, route) : `${laneKey(profile, route)}\n${agent}`;

/** The lane of the route, by which runs are counted and limited. JSON has no line feed. */
export function routeLane(lane: string): string {
  const end = lane.indexOf('\n');
  return end < 0 ? lane : lane.slice(0, end);
}

export interface LaneParts {
  readonly profile: string;
  /** Of the route, or of the target. */
  readonly name: string | null;
  /** Null: the default agent. */
  readonly agent: string | null;
}

export function laneParts(lane: string): LaneParts {
  const route = routeLane(lane);
  const [profile, name] = JSON.parse(route) as [string, string | null];
  return { profile, name, agent: route.length === lane.length ? null : lane.slice(route.length + 1) };
}

export interface SessionKey {
  readonly profile: string;
  /** Session id. */
  readonly session: string;
}

/** The name of a session, as JSON. */
export const sessionName = ({ profile, session }: SessionKey): string => laneKey(profile, session);

/** The session whose runs take turns, as JSON; null for a dispatch that waits for no other. */
export const turnKey = (of: Pick<Dispatch, 'profile' | 'session' | 'session_key'>): string | null =>
  of.session_key === undefined || of.session_key === null ? null : sessionName(of);
