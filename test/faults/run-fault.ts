/**
 * One cell of the fault table: a gateway is run with one fault of its disk, then killed and started again without. What
 * was answered 202 has to be there and run, without the restart; what was answered 503 must neither be there nor run,
 * before the restart and after it, and its retry has to be taken and run.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskFault, DiskTool } from '../helpers/disk/disk-plan.ts';
import type { GatewayProcess } from '../helpers/gateway-process.ts';
import { GatewayEnded, startGatewayProcess } from '../helpers/gateway-process.ts';
import { holdsWithin, isFinished, observe, wrongOfAcknowledged, wrongOfRefused } from './observe.ts';
import type { FaultEvent } from './short-run.ts';
import { copyHome, EVENTS, send, WAVES } from './short-run.ts';

export interface FaultRun {
  /** A home that was prepared; it is copied to `home`. */
  readonly prepared: string;
  readonly home: string;
  readonly tool: DiskTool;
  readonly program?: readonly string[];
  readonly fault: DiskFault;
}

export interface FaultResult {
  /** Whether the process came to the call that fails. */
  readonly reached: boolean;
  /** It refused to start, the fault being hit then. */
  readonly refusedStart: boolean;
  readonly accepted: number;
  readonly refused: number;
  /** Empty is the promise kept. */
  readonly wrong: readonly string[];
}

/** The calls on the store's files, in the home. */
export const CALLS_LOG = 'disk-calls';
/** What is acknowledged is finished within this time, also on a busy machine, in ms. */
const FINISH_MS = 300_000;
/** And a retry is taken within this: longer than any pause after a fault. */
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
  return { reached: calls.failed > 0, refusedStart, wrong, ...first };
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

/** The senders of one cell: what they were answered, and what is wrong with that. */
class Senders {
  readonly wrong: string[] = [];
  /** Answers to the first tries. */
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
    // The others come again after the restart: nothing of them may be found then.
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

  /** Waits until what is acknowledged is finished, then looks at everything. */
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
