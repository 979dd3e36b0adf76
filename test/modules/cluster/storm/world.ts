/** The services outside the cluster: the agent's server and a chat service that drops repeats, both of mixed speed. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ending } from '../../../helpers/at-end.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { eventAt } from './senders.ts';
import { OUTPUTS } from './table.ts';

/** Maximum duration of an agent's run in ms, by the first word of its prompt; and of a delivery, by its room. */
const RUN_MS: Readonly<Record<string, number>> = { slow: 400, limited: 40 };
const DELIVERY_MS: Readonly<Record<string, number>> = { slow: 200 };
const QUICK_MS = 15;
/** Share of deliveries that are accepted but get an error, or no response. */
const FAULTS = 0.02;

export class World {
  readonly url: string;
  /** Runs by prompt. */
  readonly runs = new Map<string, number>();
  /** Idempotency keys by the delivered text. */
  readonly delivered = new Map<string, Set<string>>();
  /** Maximum concurrent runs by the first word of their prompts, or by session. */
  readonly peaks = new Map<string, number>();
  /** Ids of events in the order in which they first ran, by session. */
  readonly turns = new Map<string, string[]>();
  /** Deliveries that found the chat service down. */
  missed = 0;
  private isDown = false;
  private readonly active = new Map<string, number>();
  private readonly random: () => number;

  private constructor(url: string, random: () => number) {
    this.url = url;
    this.random = random;
  }

  static async start(t: Ending, random: () => number): Promise<World> {
    const server = createServer((request, response) => void world.answer(request, response).catch(() => {}));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const world = new World(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, random);
    atEnd(t, () => {
      server.closeAllConnections();
      server.close();
    });
    return world;
  }

  /** The chat service is up for so many ms, then down, and so on. @returns a function that ends it */
  flap(ms: number): () => void {
    const timer = setInterval(() => {
      this.isDown = !this.isDown;
    }, ms);
    return () => {
      clearInterval(timer);
      this.isDown = false;
    };
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as { messages: { content: string }[]; body: string };
    if (request.url?.endsWith('/chat/completions'))
      await this.run(lastLine(body.messages.at(-1)?.content ?? ''), response);
    else await this.deliver(request.url ?? '', body.body, response);
  }

  /** A run lasts until it is answered, or until its gateway has ended. */
  private async run(prompt: string, response: ServerResponse): Promise<void> {
    const [kind = '', id = ''] = prompt.split(' ');
    add(this.runs, prompt, 1);
    const lane = kind === 'session' ? eventAt(Number(id.slice(1))).entity : kind;
    if (lane !== kind && this.runs.get(prompt) === 1) this.turns.set(lane, [...(this.turns.get(lane) ?? []), id]);
    add(this.active, lane, 1);
    this.peaks.set(lane, Math.max(this.peaks.get(lane) ?? 0, this.active.get(lane) ?? 0));
    response.once('close', () => add(this.active, lane, -1));
    await sleep(this.random() * (RUN_MS[kind] ?? QUICK_MS));
    const text = `answer to ${prompt}`;
    const post = { function: { name: 'post', arguments: JSON.stringify({ text }) } };
    const message = OUTPUTS.includes(kind) ? { content: '', tool_calls: [post] } : { content: text };
    response.end(JSON.stringify({ choices: [{ message }] }));
  }

  private async deliver(path: string, message: string, response: ServerResponse): Promise<void> {
    if (this.isDown) {
      if (this.missed++ % 2 === 0) response.destroy();
      else response.writeHead(503).end();
      return;
    }
    const [, room = '', key = ''] = /rooms\/(?:!|%21)(\w+).*\/(\w+)$/.exec(path) ?? [];
    await sleep(this.random() * (DELIVERY_MS[room] ?? QUICK_MS));
    const keys = this.delivered.get(message) ?? new Set();
    this.delivered.set(message, keys.add(key));
    const fault = this.random();
    if (fault < FAULTS / 2) response.destroy();
    else if (fault < FAULTS) response.writeHead(502).end();
    else response.end(JSON.stringify({ event_id: `$${key}` }));
  }
}

/** The prompt without the note of a coalesce group. */
const lastLine = (prompt: string): string => prompt.slice(prompt.lastIndexOf('\n') + 1);

function add(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
