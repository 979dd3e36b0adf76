/**
 * Live updates as server-sent events. While clients are connected, the newest requests and deliveries are read once a second for
 * all of them. The cost does not depend on traffic: an update has at most twenty entries and the number of new requests.
 * Nothing is queued for a slow client: it misses updates, and the next update has their number.
 */
import type { ServerResponse } from 'node:http';
import { messageOf } from '../../../base/errors.ts';
import type { ConsoleContext } from '../../../runtime/console/console.ts';
import type { Person } from '../../../runtime/table/link-people.ts';
import type { Answer } from './answer.ts';
import { ApiRefusal } from './answer.ts';
import type { ApiContext } from './api/call-operation.ts';
import { HANDLERS } from './api/handlers.ts';

const EVERY_MS = 1000;
/** Longest time without a message to a client, in ms. */
const HEARTBEAT_MS = 15_000;
/** After this time in ms a client has to reconnect and authenticate again. */
const LONGEST_MS = 900_000;
const MOST_CLIENTS = 16;
/** Most requests and deliveries in an update. */
const SHOWN = 20;
/** Most unsent bytes of a client. */
const MAX_UNSENT_BYTES = 65_536;

type LiveContext = Omit<ApiContext, 'person' | 'by' | 'figures'> & Pick<ConsoleContext, 'requestCount' | 'log'>;

interface Client {
  readonly response: ServerResponse;
  readonly role: Person['role'];
  /** Monotonic ms. */
  readonly until: number;
  readonly isKnown: () => Promise<boolean>;
  /** Updates missed since the last one that was sent. */
  missed: number;
  heardAt: number;
}

export class LiveEvents {
  private readonly context: LiveContext;
  private readonly clients = new Set<Client>();
  private isPolling = false;
  /** The id of the newest request, and the newest deliveries as JSON, that were sent. */
  private newest = '';
  private deliveries = '';
  private came = 0;

  constructor(context: LiveContext) {
    this.context = context;
  }

  /**
   * A viewer makes room for an operator. @param isKnown whether the login is still valid
   * @throws ApiRefusal when too many clients are connected
   */
  answer(role: Person['role'], isKnown: Client['isKnown']): Answer {
    if (this.clients.size >= MOST_CLIENTS) {
      const viewer = role === 'operator' ? [...this.clients].find((client) => client.role === 'viewer') : undefined;
      if (viewer === undefined) throw new ApiRefusal(503, 'too_many', 'too many live clients');
      this.clients.delete(viewer);
      viewer.response.destroy();
    }
    const stream = (response: ServerResponse): void => this.add({ response, role, isKnown });
    return { status: 200, type: 'text/event-stream', text: '', stream };
  }

  private add(of: Pick<Client, 'response' | 'role' | 'isKnown'>): void {
    const { response } = of;
    const now = this.context.clock.monotonic();
    const client = { ...of, until: now + LONGEST_MS, missed: 0, heardAt: now };
    this.clients.add(client);
    response.once('close', () => this.clients.delete(client));
    response.write(': live\n\n');
    if (this.isPolling) return;
    this.isPolling = true;
    this.came = this.context.requestCount();
    this.deliveries = '';
    this.newest = '';
    void this.poll();
  }

  private async poll(): Promise<void> {
    if (this.clients.size === 0) {
      this.isPolling = false;
      return;
    }
    const found = await this.readUpdate().catch((error: unknown) => {
      this.context.log.debug({ reason: messageOf(error) }, 'could not read live updates');
      return null;
    });
    const now = this.context.clock.monotonic();
    // One text for all clients; `send` adds the number of missed updates of each.
    const text = found === null ? null : JSON.stringify(found);
    for (const client of this.clients) send(client, text, (await client.isKnown()) ? now : client.until);
    this.context.clock.after(EVERY_MS, () => void this.poll());
  }

  /** Null: no changes. */
  private async readUpdate(): Promise<object | null> {
    const api: ApiContext = { ...this.context, person: { role: 'viewer', name: null }, by: '', figures: null };
    const [requests, deliveries] = await Promise.all([
      HANDLERS.listRequests(api, { limit: SHOWN }),
      HANDLERS.listDeliveries(api, { limit: SHOWN }),
    ]);
    const total = this.context.requestCount();
    const came = total - this.came;
    const shown = requests.items.filter(({ id }) => id > this.newest);
    const text = JSON.stringify(deliveries.items);
    const isSame = text === this.deliveries;
    this.came = total;
    this.newest = requests.items[0]?.id ?? this.newest;
    this.deliveries = text;
    if (came === 0 && shown.length === 0 && isSame) return null;
    return { at: this.context.clock.now(), came, requests: shown, deliveries: isSame ? null : deliveries.items };
  }
}

/** @param found a JSON object without `missed`; null: no changes */
function send(client: Client, found: string | null, now: number): void {
  const { response } = client;
  if (now >= client.until) {
    // `end` waits until the client reads, which would keep its slot forever.
    if (response.writableLength > 0) response.destroy();
    else response.end();
    return;
  }
  if (response.writableLength > MAX_UNSENT_BYTES) {
    if (found !== null) client.missed++;
    return;
  }
  if (found === null && now - client.heardAt < HEARTBEAT_MS) return;
  client.heardAt = now;
  if (found === null) {
    response.write(': still here\n\n');
    return;
  }
  response.write(`data: {"missed":${client.missed},${found.slice(1)}\n\n`);
  client.missed = 0;
}
