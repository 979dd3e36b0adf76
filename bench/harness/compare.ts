/** Measures a server against the bare one in alternating rounds, so that other load on the machine affects both equally. */
import type { Child, Usage } from './child.ts';
import type { LoadPlan, LoadResult } from './load.ts';
import type { Payload } from './payloads.ts';
import { median } from './stats.ts';

export interface Figures {
  /** Requests per second. */
  readonly rate: number;
  /** Latency in ms. */
  readonly p50: number;
  readonly p99: number;
  /** CPU time of the server's process per request, in µs. Other load on the machine hardly affects it. */
  readonly cpu: number;
}

export interface Comparison {
  readonly bare: Figures;
  readonly ours: Figures;
  /** Median of the rounds' ratios, ours to bare. */
  readonly rate: number;
  readonly p99: number;
}

/** The server, and the status that every answer must have. */
export interface Subject {
  readonly child: Child;
  readonly port: number;
  readonly path: string;
  readonly status: number;
  /** Resolves when all accepted work is done: a round lasts that long, and leaves no work to the next one. */
  readonly settled?: () => Promise<void>;
}

export interface Rounds {
  readonly rounds: number;
  readonly requests: number;
  readonly warm_up: number;
}

const CONNECTIONS = 32;
/** The time after which a round is ended. */
const ROUND_MS = 10_000;

/** Ids of all rounds of one bench run differ: a repeat would be answered as a duplicate. */
let nextId = 1;

export async function loadOnce(
  loader: Child,
  subject: Subject,
  payload: Payload,
  requests: number,
  more: Partial<LoadPlan> = {},
  repeats = 3,
): Promise<LoadResult> {
  const plan: LoadPlan = {
    port: subject.port,
    path: subject.path,
    headers: payload.headers,
    body: payload.body,
    connections: CONNECTIONS,
    requests,
    max_ms: ROUND_MS,
    first_id: nextId,
    ...more,
  };
  nextId += requests;
  const answer = await loader.ask<{ readonly result?: LoadResult; readonly error?: string }>(plan);
  if (answer.result === undefined) throw new Error(`load generator: ${answer.error}`);
  const { statuses, broken } = answer.result;
  const others = Object.keys(statuses).filter((status) => Number(status) !== subject.status);
  if (others.length === 1 && others[0] === '503' && repeats > 0) {
    console.error(`${subject.path}: ${statuses[503]} x 503: the disk stalled for a second; repeating the round`);
    await subject.settled?.();
    return loadOnce(loader, subject, payload, requests, more, repeats - 1);
  }
  if (others.length > 0 || broken > 0) {
    throw new Error(`${subject.path}: expected ${subject.status}, got ${JSON.stringify(statuses)}, ${broken} broken`);
  }
  return answer.result;
}

export interface Round extends LoadResult {
  readonly cpu: number;
}

function middle(rounds: readonly Round[]): Figures {
  return {
    rate: median(rounds.map(({ rate }) => rate)),
    p50: median(rounds.map(({ p50 }) => p50)),
    p99: median(rounds.map(({ p99 }) => p99)),
    cpu: median(rounds.map(({ cpu }) => cpu)),
  };
}

async function cpuTime({ child }: Subject): Promise<number> {
  const { cpu } = await child.ask<Usage>({});
  return cpu.user + cpu.system;
}

async function measure(loader: Child, subject: Subject, payload: Payload, requests: number): Promise<Round> {
  const before = await cpuTime(subject);
  const result = await loadOnce(loader, subject, payload, requests);
  const answered = performance.now();
  await subject.settled?.();
  const seconds = result.seconds + (performance.now() - answered) / 1000;
  const cpu = ((await cpuTime(subject)) - before) / result.requests;
  return { ...result, rate: result.requests / seconds, cpu };
}

export interface Contest {
  readonly bare: Subject;
  readonly ours: Subject;
  readonly payload: Payload;
  readonly oursPayload?: Payload;
}

/** The measurements of the rounds of one pair of processes. */
export interface Measured {
  readonly bare: readonly Round[];
  readonly ours: readonly Round[];
}

/** Measures two servers in alternating rounds. */
export async function compare(loader: Child, contest: Contest, rounds: Rounds): Promise<Comparison> {
  return summarise([await measureBoth(loader, contest, rounds)]);
}

export async function measureBoth(
  loader: Child,
  { bare, ours, payload, oursPayload = payload }: Contest,
  { rounds, requests, warm_up }: Rounds,
): Promise<Measured> {
  await loadOnce(loader, bare, payload, warm_up);
  await loadOnce(loader, ours, oursPayload, warm_up);
  const bareResults: Round[] = [];
  const ourResults: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    // The order alternates from round to round.
    const order = round % 2 === 0 ? [bare, ours] : [ours, bare];
    for (const subject of order) {
      const result = await measure(loader, subject, subject === bare ? payload : oursPayload, requests);
      (subject === bare ? bareResults : ourResults).push(result);
    }
  }
  return { bare: bareResults, ours: ourResults };
}

/** Medians over the rounds of all pairs of processes. */
export function summarise(measured: readonly Measured[]): Comparison {
  const bare = measured.flatMap((pair) => pair.bare);
  const ours = measured.flatMap((pair) => pair.ours);
  const ratio = (figure: (result: Round) => number): number =>
    median(ours.map((result, round) => figure(result) / figure(bare[round] ?? result)));
  return {
    bare: middle(bare),
    ours: middle(ours),
    rate: ratio((result) => result.rate),
    p99: ratio((result) => result.p99),
  };
}
