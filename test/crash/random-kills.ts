/** Kills a loaded process at random moments, repeatedly, over one store. */
import { seededRandom } from '../helpers/seeded-random.ts';
import type { Findings } from './inspect-home.ts';
import { inspectHome } from './inspect-home.ts';
import type { Launched } from './launch.ts';
import { launch } from './launch.ts';
import { acknowledgedIn } from './matrix.ts';
import type { CrashEvent } from './protocol.ts';

export interface RandomKills {
  readonly home: string;
  readonly kills: number;
  /** New events in each life of the process. */
  readonly events: number;
  /** Longest time from ready to killed, in ms. */
  readonly lifeMs: number;
  /** Seed of the moments of the kills and of the faults. */
  readonly seed: number;
}

export interface RandomReport extends Findings {
  readonly events: number;
  readonly kills: number;
}

const MODES = ['agent', 'agent', 'coalesce', 'immediate', 'message', 'direct'] as const;

/** Maximum number of retries of a sender. */
const MOST_TRIES = 1000;

/** Resends rejected and undelivered events, as a sender does after 502 or 503, until all are acknowledged. */
async function persist(child: Launched, sent: readonly CrashEvent[]): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    while (child.answers.size < sent.length) await new Promise((resolve) => setTimeout(resolve, 5));
    const acknowledged = acknowledgedIn(child.answers);
    const refused = sent.filter(({ id }) => !acknowledged.has(id));
    if (refused.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const event of refused) child.send(event);
  }
}

export async function killAtRandom({ home, kills, events, lifeMs, seed }: RandomKills): Promise<RandomReport> {
  const startedAt = Date.now();
  const random = seededRandom(seed);
  const all: CrashEvent[] = [];
  const acknowledged = new Set<string>();
  const wrong: string[] = [];
  for (let life = 0; life <= kills; life++) {
    const child = launch({ home, startedAt, kill: null, database: null, faults: 0.2, seed: seed + life });
    const repeats = all.slice(-20).filter(({ id }) => acknowledged.has(id));
    const retries = all.filter(({ id }) => !acknowledged.has(id));
    const fresh = Array.from({ length: life < kills ? events : 0 }, (_, n): CrashEvent => {
      const mode = MODES[n % MODES.length] ?? 'agent';
      return { id: `${life}-${n}`, mode, key: `${life}-${n % 3}` };
    });
    all.push(...fresh);
    await child.ready;
    const sent = [...repeats, ...retries, ...fresh];
    for (const event of sent) child.send(event);
    if (life < kills) {
      setTimeout(() => child.kill(), random() * lifeMs);
    } else {
      await persist(child, sent);
      child.finish();
    }
    await child.ended;
    for (const { id } of repeats) {
      const answer = child.answers.get(id) ?? 'duplicate';
      if (answer !== 'duplicate' && answer !== 'overloaded') wrong.push(`${id}: taken again as ${answer}`);
    }
    for (const id of acknowledgedIn(child.answers)) acknowledged.add(id);
  }
  const found = await inspectHome({ home, database: null }, all, acknowledged);
  const missing = all.filter(({ id }) => !acknowledged.has(id)).map(({ id }) => `${id}: never acknowledged`);
  return { ...found, wrong: [...wrong, ...missing, ...found.wrong], events: all.length, kills };
}
