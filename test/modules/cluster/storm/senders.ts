/**
 * The senders of the storm: events fall due evenly (or when there is room again), go to the gateways in turns, and are
 * retried until they are acknowledged.
 */
import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StormGateway } from './gateways.ts';
import type { Route } from './table.ts';
import { SECRET } from './table.ts';

export interface StormEvent {
  readonly id: string;
  readonly route: Route;
  readonly entity: string;
}

/**
 * A sender stops waiting for a response after this time in ms, and retries after a random pause, at first of at most
 * this many ms.
 */
const TIMEOUT_MS = 5000;
const PAUSE_MS = 250;
const MAX_PAUSE_MS = 2000;
/** Concurrent events: more would slow down this process and its proxies. */
const AT_ONCE = 200;
/** The distance between events of a group, so that they reach different gateways. */
const ENTITIES = 7;

/** The limited route may have few concurrent runs, so it gets few events. */
const PLACES: readonly Route[] = [
  ...(['limited', 'slow', 'slow', 'slow', 'grouped', 'grouped', 'grouped', 'grouped', 'grouped'] as const),
  ...(['session', 'session', 'session', 'output', 'output', 'output', 'approved', 'budgeted'] as const),
  ...(['quick', 'quick', 'quick'] as const),
];
/** One in so many is never sent again after a 503. */
const GIVES_UP = 3;

export const eventAt = (n: number): StormEvent => {
  const route = PLACES[n % PLACES.length] as Route;
  return { id: `e${n}`, route, entity: `${Math.floor(n / 200)}-${n % ENTITIES}` };
};

export class Senders {
  readonly acknowledged = new Set<string>();
  /** Refused (503), and not sent again; and ignored, because a budget was used up. Nothing of them may be stored. */
  readonly refused = new Set<string>();
  readonly ignored = new Set<string>();
  /** Either stored or not. */
  readonly unknown = new Set<string>();
  /** Responses that no sender should get. */
  readonly wrong: string[] = [];
  /** Responses by status; 0: the connection failed, or there was no response in time. */
  readonly answers = new Map<number, number>();
  private readonly gateways: readonly StormGateway[];
  private readonly agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE / 2 });
  private turn = 0;
  private underWay = 0;

  constructor(gateways: readonly StormGateway[]) {
    this.gateways = gateways;
  }

  /** @returns when all are acknowledged */
  async send(count: number, perSecond: number): Promise<void> {
    const sent: Promise<void>[] = [];
    const begun = performance.now();
    while (sent.length < count) {
      const due = Math.min(count, Math.ceil(((performance.now() - begun) / 1000) * perSecond));
      while (sent.length < due && this.underWay < AT_ONCE)
        sent.push(this.persist(eventAt(sent.length), sent.length % GIVES_UP === 0));
      await sleep(5);
    }
    await Promise.all(sent);
    this.agent.destroy();
  }

  /** @param givesUp after a 503, if no earlier try can have been stored */
  private async persist(event: StormEvent, givesUp: boolean): Promise<void> {
    this.underWay++;
    (await this.ended(event, givesUp)).add(event.id);
    this.underWay--;
  }

  /** @returns the set to which the event belongs once it is not sent again */
  private async ended(event: StormEvent, givesUp: boolean): Promise<Set<string>> {
    let isClear = true;
    for (let tries = 0; ; tries++) {
      const { url } = this.gateways[this.turn++ % this.gateways.length] as StormGateway;
      const { status, retryAfter, body } = await postEvent(this.agent, url, event);
      this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
      if (status === 202 || (status === 200 && body.includes('"duplicate"'))) return this.acknowledged;
      // A try without a response may be stored later, and leave no room for this one.
      if (status === 200 && body.includes('"budget"')) return isClear ? this.ignored : this.unknown;
      if (status === 503 && retryAfter === undefined) this.wrong.push(`${event.id}: 503 without Retry-After`);
      if (status !== 503 && status !== 0) this.wrong.push(`${event.id}: ${status} ${body}`);
      if (status === 503 && givesUp && isClear) return this.refused;
      if (status === 0) isClear = false;
      await sleep(Math.random() * Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** tries));
    }
  }
}

export interface Posted {
  /** 0: the connection failed, or there was no response in time. */
  readonly status: number;
  readonly retryAfter?: string | undefined;
  readonly body: string;
}

/** Sends an event once, signed. */
export function postEvent(agent: Agent, url: string, event: StormEvent, timeout = TIMEOUT_MS): Promise<Posted> {
  const { id, route, entity } = event;
  const body = JSON.stringify({ id, entity });
  const headers = {
    'content-type': 'application/json',
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    'x-request-id': id,
  };
  return new Promise((resolve) => {
    const failed = (): void => resolve({ status: 0, body: '' });
    const sent = request(`${url}/webhooks/${route}`, { method: 'POST', agent, headers, timeout }, (response) => {
      const { statusCode: status = 0, headers } = response;
      let body = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        body += piece;
      });
      response.once('end', () => resolve({ status, retryAfter: headers['retry-after'], body }));
      response.once('close', failed);
    });
    sent.on('timeout', () => sent.destroy());
    sent.on('error', failed);
    sent.end(body);
  });
}
