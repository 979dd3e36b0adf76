/** Child processes of a measurement (servers and the load generator), which communicate by messages. */
import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { BUILT } from './build.ts';

/** The report of a server under test. */
export interface Usage {
  readonly rss: number;
  /** Microseconds. */
  readonly cpu: NodeJS.CpuUsage;
}

/** A process that answers every message with one message. */
export class Child {
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#process = child;
  }

  /** Starts a built module of bench/ and returns its first message. */
  static async start<First>(module: string, options: object = {}): Promise<{ child: Child; first: First }> {
    const child = new Child(
      fork(join(BUILT, 'bench', module), [JSON.stringify(options)], {
        execArgv: process.env.BENCH_NODE_OPTIONS?.split(' ') ?? [],
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      }),
    );
    return { child, first: await child.#answer<First>() };
  }

  async ask<Answer>(message: object): Promise<Answer> {
    const answer = this.#answer<Answer>();
    this.#process.send(message);
    return answer;
  }

  /** Sends a message without waiting for a reply. */
  tell(message: object): void {
    this.#process.send(message);
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const exited = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.disconnect();
    await exited;
  }

  #answer<Answer>(): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const settle = (message: unknown): void => {
        this.#process.off('exit', fail);
        resolve(message as Answer);
      };
      const fail = (code: number | null): void => {
        this.#process.off('message', settle);
        reject(new Error(`the child process ended with code ${code}`));
      };
      this.#process.once('message', settle);
      this.#process.once('exit', fail);
    });
  }
}
