/** The events of a gateway as an operator sees them: the listed ones, their states, and their runs. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInProcess } from '../helpers/cli.ts';

export interface Listed {
  readonly delivery_id: string;
  readonly state: string;
  readonly reason: string | null;
}

export interface Observed {
  /** Dispatches by delivery id; more than one is an error. */
  readonly listed: ReadonlyMap<string, readonly Listed[]>;
  /** Runs by delivery id. */
  readonly runs: ReadonlyMap<string, number>;
}

/** @throws Error when the command fails */
export async function observe(home: string): Promise<Observed> {
  const { code, stdout, stderr } = await runInProcess(['deliveries', 'list', '--limit', '1000', '--json'], { home });
  if (code !== 0) throw new Error(`deliveries list: ${stderr}`);
  const listed = new Map<string, Listed[]>();
  for (const one of JSON.parse(stdout) as Listed[]) {
    listed.set(one.delivery_id, [...(listed.get(one.delivery_id) ?? []), one]);
  }
  return { listed, runs: runsIn(join(home, 'prompts')) };
}

function runsIn(path: string): ReadonlyMap<string, number> {
  const runs = new Map<string, number>();
  if (!existsSync(path)) return runs;
  for (const [, id = ''] of readFileSync(path, 'utf8').matchAll(/<([\w-]+)>/g)) runs.set(id, (runs.get(id) ?? 0) + 1);
  return runs;
}

const isSuperseded = ({ state, reason }: Listed): boolean =>
  state === 'skipped' && reason?.startsWith('superseded by ') === true;

/** True if an acknowledged event was finished. */
export function isFinished({ listed, runs }: Observed, id: string): boolean {
  const [one] = listed.get(id) ?? [];
  return one !== undefined && (isSuperseded(one) || (one.state === 'done' && (runs.get(id) ?? 0) > 0));
}

/** The problems with acknowledged events, a line each: they must be stored once, and run. */
export function wrongOfAcknowledged(observed: Observed, ids: Iterable<string>): string[] {
  return [...ids].flatMap((id) => {
    const found = observed.listed.get(id) ?? [];
    if (found.length !== 1) return [`${id}: acknowledged, stored ${found.length} times`];
    if (isFinished(observed, id)) return [];
    return [`${id}: acknowledged, ${found[0]?.state}, ${observed.runs.get(id) ?? 0} runs`];
  });
}

/** The problems with rejected events: they must not exist, and must not run. */
export function wrongOfRefused({ listed, runs }: Observed, ids: Iterable<string>): string[] {
  return [...ids].flatMap((id) => [
    ...(listed.get(id) ?? []).map(({ state }) => `${id}: answered 503, stored as ${state}`),
    ...(runs.has(id) ? [`${id}: answered 503, run`] : []),
  ]);
}

/** Polls until it holds or the time is over. @returns whether it holds */
export async function holdsWithin(ms: number, ask: () => Promise<boolean>): Promise<boolean> {
  for (const end = performance.now() + ms; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    if (await ask()) return true;
    if (performance.now() > end) return false;
  }
}
