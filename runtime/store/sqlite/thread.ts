/** Clients of the store's workers: threads in a server, plain objects in a command. Replies arrive in request order. */

import type { MessagePort, Worker } from 'node:worker_threads';
import { messageOf } from '../../../base/errors.ts';
import type { ExitGate } from '../../platform/process/threads.ts';
import { dropGate, enter, leave, openGate } from '../../platform/process/threads.ts';

export interface Client<Request> {
  /** Rejects with ThreadEnded when the thread ends first, and with an Error when the request throws. */
  ask<Answer>(request: Request): Promise<Answer>;
  /** Sends a last request if the worker has been started, and ends the worker. */
  end(last: Request): Promise<void>;
}

/** The thread ended while it had a request; whether it finished it is unknown. */
export class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded';
}

export type StartThread = () => Worker;

interface Waiting {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

type Reply = { readonly answer: unknown } | { readonly error: string };

/** A client of a thread. The first request starts the thread, and the next one restarts it after it has died. */
export class ThreadClient<Request> implements Client<Request> {
  private readonly start: StartThread;
  private readonly onDeath: (reason: string) => void;
  private thread: Worker | null = null;
  /** Once true, the thread is not started again: a late request would keep the process alive. */
  private isEnding = false;
  private readonly waiting: Waiting[] = [];

  constructor(start: StartThread, onDeath: (reason: string) => void) {
    this.start = start;
    this.onDeath = onDeath;
  }

  ask<Answer>(request: Request): Promise<Answer> {
    if (this.isEnding) return Promise.reject(new ThreadEnded('the store is closed'));
    return this.send(request);
  }

  async end(last: Request): Promise<void> {
    this.isEnding = true;
    if (this.thread !== null) await this.send(last).catch(() => {});
    await this.thread?.terminate();
  }

  private send<Answer>(request: Request): Promise<Answer> {
    this.thread ??= this.begin();
    const { thread } = this;
    return new Promise<Answer>((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      thread.postMessage(request);
    });
  }

  private begin(): Worker {
    const thread = this.start();
    const gate = openGate();
    thread.postMessage(gate);
    thread.on('message', (reply: Reply) => {
      const waiting = this.waiting.shift();
      if ('answer' in reply) waiting?.resolve(reply.answer as never);
      else waiting?.reject(new Error(reply.error));
    });
    let reason: string | null = null;
    thread.on('error', (error) => {
      reason = messageOf(error);
    });
    thread.on('exit', (code) => {
      dropGate(gate);
      this.thread = null;
      if (!this.isEnding) this.onDeath(reason ?? `the thread ended with code ${code}`);
      for (const { reject } of this.waiting.splice(0)) reject(new ThreadEnded('a store thread ended'));
    });
    return thread;
  }
}

/** A client of a worker in this thread. */
export function inlineClient<Request>(serve: (request: Request) => unknown): Client<Request> {
  return {
    ask: async <Answer>(request: Request) => (await serve(request)) as Answer,
    async end(last) {
      try {
        await serve(last);
      } catch {
        // As in a thread that ends: failed work is done at the next start.
      }
    },
  };
}

/** Serves requests on `port`, one at a time, for a ThreadClient. */
export function serveThread<Request>(port: MessagePort, serve: (request: Request) => unknown): void {
  let last: Promise<void> = Promise.resolve();
  let gate: ExitGate | null = null;
  const answer = async (request: Request): Promise<void> => {
    if (gate !== null && !enter(gate)) return;
    let reply: Reply;
    try {
      reply = { answer: await serve(request) };
    } catch (error) {
      reply = { error: messageOf(error) };
    }
    if (gate !== null) leave(gate);
    port.postMessage(reply);
  };
  port.on('message', (message: Request | ExitGate) => {
    if (!(message instanceof Int32Array)) {
      last = last.then(() => answer(message));
      return;
    }
    gate = message;
    leave(gate);
  });
}
