/**
 * One cell of the fault table: a gateway runs with one fault of its disk, then is killed and restarted without it.
 * Events that got 202 must be stored and run, even without the restart. Events that got 503 must not be stored or run,
 * before the restart or after it; their retry must be accepted and run.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskCalls, DiskFault, DiskTool } from '../helpers/disk/disk-plan.ts';
import type { GatewayProcess } from '../helpers/gateway-process.ts';
import { GatewayEnded, startGatewayProcess } from '../helpers/gateway-process.ts';
import { holdsWithin, isFinished, observe, wrongOfAcknowledged, wrongOfRefused } from './observe.ts';
import type { FaultEvent } from './short-run.ts';
import { copyHome, EVENTS, send, WAVES } from './short-run.ts';

export interface FaultRun {
  /** A prepared home; it is copied to `home`. */
  readonly prepared: string;
  readonly home: string;
  readonly tool: DiskTool;
  readonly program?: readonly string[];
  readonly fault: DiskFault;
}

export interface FaultResult {
  /** True if the process reached the failing call. */
  readonly reached: boolean;
  readonly calls: DiskCalls;
  /** True if it refused to start when the fault was hit. */
  readonly refusedStart: boolean;
  readonly accepted: number;
  readonly refused: number;
  /** Broken promises; empty if there are none. */
  readonly wrong: readonly string[];
}

/** The calls on the store's files, in the home. */
export const CALLS_LOG = 'disk-calls';
/** Acknowledged events are finished within this time, even on a busy machine, in ms. */
const FINISH_MS = 300_000;
/** A retry is accepted within this time, which is longer than any pause after a fault. */
const RETRY_MS = 300_000;

export async function runFault(run: FaultRun): Promise<FaultResult> {
  copyHome(run.prepared, run.home);
  const log = join(run.home, CALLS_LOG);
  const senders = new Senders(run.home);
  const refusedStart = await underFault(run, log, senders);
  const calls = run.tool.countCalls(existsSync(log) ? readFileSync(log, 'utf8') : '');
  const again = await start(run);
  try {
    await senders.afterRestart(again);
  } finally {
    await again.kill();
  }
  const { wrong, first } = senders;
  if (refusedStart && run.fault.error === 'ENOSPC') wrong.push('a full disk kept the gateway from starting');
  return { reached: calls.failed > 0, calls, refusedStart, wrong, ...first };
}

function start({ home, program }: FaultRun, wrap?: Parameters<typeof startGatewayProcess>[0]['wrap']) {
  const options = { ...(program === undefined ? {} : { program }), ...(wrap === undefined ? {} : { wrap }) };
  return startGatewayProcess({ home, ...options });
}

/** @returns whether it refused to start */
async function underFault(run: FaultRun, log: string, senders: Senders): Promise<boolean> {
  const { home, tool, fault } = run;
  let gateway: GatewayProcess;
  try {
    gateway = await start(run, (argv) => tool.wrap(argv, { home, fault, log }));
  } catch (error) {
    if (error instanceof GatewayEnded) return true;
    throw error;
  }
  try {
    await senders.whileItRuns(gateway);
  } finally {
    await gateway.kill();
  }
  return false;
}

/** The senders of one cell: their responses, and the problems with these. */
class Senders {
  readonly wrong: string[] = [];
  /** Responses to the first tries. */
  first = { accepted: 0, refused: 0 };
  readonly #home: string;
  readonly #acknowledged = new Set<string>();
  readonly #refused = new Set<string>();

  constructor(home: string) {
    this.#home = home;
  }

  async whileItRuns({ url, child }: GatewayProcess): Promise<void> {
    for (const wave of WAVES) await Promise.all(wave.map((event) => this.#send(url, event)));
    this.first = { accepted: this.#acknowledged.size, refused: this.#refused.size };
    await this.#check();
    // The others retry after the restart; none of them may be found before.
    const [now] = halves([...this.#refused]);
    await Promise.all(now.map((id) => this.#retry(url, id)));
    await this.#check();
    if (child.exitCode !== null || child.signalCode !== null) this.wrong.push('the gateway ended');
  }

  async afterRestart({ url }: GatewayProcess): Promise<void> {
    await this.#check();
    const unknown = EVENTS.filter(({ id }) => !this.#acknowledged.has(id)).map(({ id }) => id);
    await Promise.all(unknown.map((id) => this.#retry(url, id)));
    await this.#check();
    for (const id of this.#acknowledged) {
      const { code } = await send(url, eventOf(id));
      if (code !== 'duplicate') this.wrong.push(`${id}: stored, and its repeat answered ${code}`);
    }
  }

  async #send(url: string, event: FaultEvent): Promise<void> {
    const { status, code } = await send(url, event);
    if (status === 202) this.#acknowledged.add(event.id);
    else if (status === 503) this.#refused.add(event.id);
    else this.wrong.push(`${event.id}: answered ${status} ${code}`);
  }

  async #retry(url: string, id: string): Promise<void> {
    let answer = { status: 503, code: 'not sent' };
    await holdsWithin(RETRY_MS, async () => {
      answer = await send(url, eventOf(id));
      return answer.status !== 503;
    });
    if (answer.status === 503) return;
    if (answer.status !== 202 && this.#refused.has(id)) this.wrong.push(`${id}: its retry was answered ${answer.code}`);
    this.#refused.delete(id);
    this.#acknowledged.add(id);
  }

  /** Waits until acknowledged events are finished, then checks everything. */
  async #check(): Promise<void> {
    await holdsWithin(FINISH_MS, async () => {
      const seen = await observe(this.#home).catch(() => null);
      return seen !== null && [...this.#acknowledged].every((id) => isFinished(seen, id));
    });
    try {
      const seen = await observe(this.#home);
      this.wrong.push(...wrongOfAcknowledged(seen, this.#acknowledged), ...wrongOfRefused(seen, this.#refused));
    } catch (error) {
      this.wrong.push(String(error));
    }
  }
}

const eventOf = (id: string): FaultEvent => EVENTS.find((event) => event.id === id) ?? { id, route: 'runs' };

const halves = <T>(all: readonly T[]): readonly [readonly T[], readonly T[]] => [
  all.filter((_, at) => at % 2 === 0),
  all.filter((_, at) => at % 2 === 1),
];
