/** A killed gateway whose log is damaged before the next start: damage must be reported, a torn tail must not. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInProcess } from '../helpers/cli.ts';
import { filesBelow, readIfThere } from '../helpers/files-below.ts';
import type { GatewayProcess } from '../helpers/gateway-process.ts';
import { GatewayEnded, startGatewayProcess } from '../helpers/gateway-process.ts';
import { observe } from './observe.ts';
import { copyHome, prepareHome, send, writeConfig } from './short-run.ts';
import type { Damage } from './wal.ts';
import { walFrames } from './wal.ts';

const WAL = 'state.db-wal';

export interface KilledHome {
  readonly home: string;
  readonly acknowledged: readonly string[];
}

/** A checkpoint may have emptied the log just before the kill; the next try then puts more into it. */
const TRIES = 10;
const LEAST_COMMITS = 4;

/**
 * Accepts events in several commits, and kills the gateway while they are in the log.
 * @param isNew true: the tables themselves may exist only in the log; false: the gateway has run and ended before
 */
export async function killWithLog(home: string, isNew: boolean, program?: readonly string[]): Promise<KilledHome> {
  if (isNew) writeConfig(home);
  else await prepareHome(home, program);
  const acknowledged: string[] = [];
  for (let life = 0; life < TRIES; life++) {
    const gateway = await startGatewayProcess({ home, ...(program === undefined ? {} : { program }) });
    try {
      for (let wave = 0; wave < 8; wave++) {
        const ids = [1, 2, 3].map((n) => `life-${life}-${wave}-${n}`);
        const answers = await Promise.all(ids.map((id) => send(gateway.url, { id, route: 'runs' })));
        acknowledged.push(...ids.filter((_, at) => answers[at]?.status === 202));
      }
    } finally {
      await gateway.kill();
    }
    const wal = existsSync(join(home, WAL)) ? readFileSync(join(home, WAL)) : Buffer.alloc(0);
    if (walFrames(wal).filter(({ endsCommit }) => endsCommit).length >= LEAST_COMMITS) return { home, acknowledged };
  }
  throw new Error(`after ${TRIES} kills there was nothing in ${WAL}`);
}

export interface DamageResult {
  readonly name: string;
  /** Acknowledged events that are missing. */
  readonly lost: number;
  /** Broken promises; empty if there are none. */
  readonly wrong: readonly string[];
}

/** @param to where a copy of the killed home is made */
export async function runDamage(
  killed: KilledHome,
  to: string,
  damage: Damage,
  program?: readonly string[],
): Promise<DamageResult> {
  copyHome(killed.home, to);
  const spoilt = damage.apply(readFileSync(join(to, WAL)));
  writeFileSync(join(to, WAL), spoilt);
  let gateway: GatewayProcess;
  try {
    gateway = await startGatewayProcess({ home: to, ...(program === undefined ? {} : { program }) });
  } catch (error) {
    if (!(error instanceof GatewayEnded)) throw error;
    return { name: damage.name, lost: killed.acknowledged.length, wrong: [`does not start: ${error.message}`] };
  }
  try {
    const told = { ...(await whatIsTold(to, gateway.output)), 'a copy of the damaged log': hasCopyOf(to, spoilt) };
    const { listed } = await observe(to);
    const lost = killed.acknowledged.filter((id) => !listed.has(id)).length;
    const isSaid = damage.said === 'if lost' ? lost > 0 : damage.said;
    const wrong = Object.entries(told)
      .filter(([, tells]) => tells !== isSaid && (damage.said !== 'if lost' || isSaid))
      .map(([where, tells]) => (tells ? `${where}: says damage where there is none` : `${where}: nothing of it`));
    const { status } = await send(gateway.url, { id: 'afterwards', route: 'runs' });
    if (status !== 202) wrong.push(`a new event: answered ${status}`);
    return { name: damage.name, lost, wrong };
  } finally {
    await gateway.kill();
  }
}

/** Removes the path of the home from a report. */
const says = (text: string, home: string): boolean => /damag|corrupt/i.test(text.replaceAll(home, ''));

async function whatIsTold(home: string, output: () => string): Promise<Record<string, boolean>> {
  const status = await runInProcess(['gateway', 'status'], { home });
  const doctor = await runInProcess(['doctor'], { home });
  const errors = output()
    .split('\n')
    .filter((line) => line.includes('"level":"error"'));
  return {
    'an error in the log': errors.some((line) => says(line, home)),
    'gateway status': says(status.stdout, home),
    doctor: says(doctor.stdout, home),
  };
}

/** Copies in the home, whatever their names, except in the folders that agents use. */
const hasCopyOf = (home: string, bytes: Buffer): boolean =>
  filesBelow(home)
    .filter((file) => file !== WAL && !/^(?:work|run)\//.test(file))
    .some((file) => readIfThere(join(home, file))?.equals(bytes) === true);
