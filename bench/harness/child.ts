/** Child processes of a measurement: servers and the load generator, asked and answered by messages. */
import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface ChildOptions {
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Node's own options, beside the TypeScript loader. */
  readonly execArgv?: readonly string[];
}

/** A process that answers every message with one message. */
export class Child {
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#process = child;
  }

  /** Starts a module below bench/ and waits for its first message, which it hands back. */
  static async start<First>(module: string, options: ChildOptions = {}): Promise<{ child: Child; first: First }> {
    const path = fileURLToPath(new URL(`../${module}`, import.meta.url));
    const child = new Child(
      fork(path, options.args ?? [], {
        execArgv: ['--import', 'tsx', ...(options.execArgv ?? [])],
        env: { ...process.env, ...options.env },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      }),
    );
    return { child, first: await child.#answer<First>() };
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  async ask<Answer>(message: object): Promise<Answer> {
    const answer = this.#answer<Answer>();
    this.#process.send(message);
    return answer;
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
