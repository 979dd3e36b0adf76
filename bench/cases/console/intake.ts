/**
 * The cost of open pages for the intake: rounds of a closed loop with five pages and with none, in turns, on one
 * gateway.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../../harness/child.ts';
import type { LoadPlan, LoadResult } from '../../harness/load.ts';
import { figuresOf } from '../../harness/open-loop-figures.ts';
import { small } from '../../harness/payloads.ts';
import { median } from '../../harness/stats.ts';
import type { Lab } from '../../lab.ts';
import type { PagesReport } from '../../servers/pages.ts';
import { sendByTheClock } from '../open-loop/send.ts';
import type { Bench } from './with-console.ts';
import { withConsole, withPages } from './with-console.ts';

const PAGES = 5;
const CONNECTIONS = 32;
const path = '/webhooks/agent';
/** Events a second, by the clock. */
const RATE = 1000;

interface Round {
  /** Accepted events a second, until all of them are done. */
  readonly rate: number;
  /** Processor time of an event, in µs. */
  readonly cpu: number;
}

let nextId = 1;

/** Resolves when all accepted work is done. */
async function settled(url: string): Promise<void> {
  for (;;) {
    const state = (await (await fetch(`${url}/api/overview`)).json()) as {
      readonly states: Readonly<Record<'pending' | 'running' | 'delivering', number>> | null;
    };
    const { pending = 1, running = 0, delivering = 0 } = state.states ?? {};
    if (pending + running + delivering === 0) return;
    await sleep(20);
  }
}

const open = (pages: Child): Promise<unknown> => pages.ask({ open: PAGES });
const close = (pages: Child): Promise<PagesReport> => pages.ask<PagesReport>({ open: 0 });

async function round(lab: Lab, { gateway, url }: Bench, requests: number): Promise<Round> {
  const before = gateway.cpu();
  const plan: LoadPlan = {
    port: gateway.port,
    path,
    headers: small.headers,
    body: small.body,
    connections: CONNECTIONS,
    requests,
    max_ms: 60_000,
    first_id: nextId,
  };
  nextId += requests;
  const began = performance.now();
  const { result, error } = await lab.loader.ask<{ readonly result?: LoadResult; readonly error?: string }>(plan);
  // On a busy machine some are rejected as overloaded, which is also a response.
  const accepted = result?.statuses[202] ?? 0;
  if (accepted === 0) throw new Error(`load generator: ${error ?? JSON.stringify(result?.statuses)}`);
  await settled(url);
  const seconds = (performance.now() - began) / 1000;
  return { rate: accepted / seconds, cpu: ((gateway.cpu() - before) * 1e6) / accepted };
}

export async function intake(lab: Lab): Promise<readonly (readonly string[])[]> {
  return withConsole(lab, (bench) => withPages(bench.url, (pages) => compared(lab, { ...bench, pages })));
}

async function compared(lab: Lab, bench: Bench): Promise<readonly (readonly string[])[]> {
  const requests = lab.quick ? 2000 : 6000;
  const pairs = lab.quick ? 4 : 10;
  await round(lab, bench, requests);
  const none: Round[] = [];
  const five: Round[] = [];
  let report: PagesReport | null = null;
  const watched = async (): Promise<void> => {
    await open(bench.pages);
    five.push(await round(lab, bench, requests));
    report = await close(bench.pages);
  };
  for (let pair = 0; pair < pairs; pair++) {
    // One side, the other twice, the first again, so that drift affects both equally.
    if (pair % 2 === 1) await watched();
    none.push(await round(lab, bench, requests));
    if (pair % 2 === 0) await watched();
  }
  const row = (name: string, of: keyof Round, goal: string): string[] => {
    const ratios = five.map((each, at) => each[of] / (none[at]?.[of] ?? Number.NaN));
    const [with5, without] = [five, none].map((rounds) => median(rounds.map((each) => each[of])));
    return [name, (with5 ?? 0).toFixed(0), (without ?? 0).toFixed(0), median(ratios).toFixed(3), goal];
  };
  return [
    row('events a second, five pages / none', 'rate', '>= 0.97'),
    row('processor time of an event, µs', 'cpu', '<= 1.03'),
    ...pageRows('closed loop', report),
    ...(await byTheClock(lab, bench)),
  ];
}

/** A thousand events a second, and the events that the pages received. */
async function byTheClock(lab: Lab, bench: Bench): Promise<readonly (readonly string[])[]> {
  const { gateway, pages, url } = bench;
  const seconds = lab.options.seconds ?? (lab.quick ? 5 : 15);
  const turn = async (): Promise<{ readonly accepted: number; readonly p99: number }> => {
    const target = { port: gateway.port, path };
    const result = await sendByTheClock(lab, target, [{ rate: RATE, seconds }], nextId, small);
    nextId += RATE * seconds;
    const accepted = figuresOf(result).statuses.get('202');
    await settled(url);
    return { accepted: (accepted?.count ?? 0) / seconds, p99: accepted?.p99 ?? Number.NaN };
  };
  const none = await turn();
  await open(pages);
  const five = await turn();
  const report = await close(pages);
  const ratio = (of: 'accepted' | 'p99'): string => (five[of] / none[of]).toFixed(2);
  return [
    [
      `accepted at ${RATE}/s, five pages / none`,
      five.accepted.toFixed(0),
      none.accepted.toFixed(0),
      ratio('accepted'),
      '>= 0.97',
    ],
    ['p99 of it, ms', five.p99.toFixed(1), none.p99.toFixed(1), ratio('p99'), ''],
    ...pageRows(`${RATE}/s`, report),
  ];
}

function pageRows(name: string, report: PagesReport | null): readonly (readonly string[])[] {
  if (report === null) return [];
  const { events, came, loads, failed, median: half, p99 } = report;
  return [
    [`${name}: live events on five pages; requests that they reported`, `${events}`, `${came}`, '', ''],
    [`${name}: views loaded; not answered 200`, `${loads}`, `${failed}`, '', '0'],
    [`${name}: a load, median and p99 in ms`, half.toFixed(1), p99.toFixed(1), '', ''],
  ];
}
