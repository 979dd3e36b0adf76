/** Starts the process that is killed, and records its responses. */
import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { nodeArgv } from '../helpers/node-argv.ts';
import type { ChildOptions, CrashEvent, FromChild, ToChild } from './protocol.ts';

export interface Launched {
  readonly ready: Promise<void>;
  /** Responses by event id, in order of arrival. */
  readonly answers: ReadonlyMap<string, string>;
  /** True if it ended after `finish`, and not by a kill. */
  readonly ended: Promise<'finished' | 'killed'>;
  send(event: CrashEvent): void;
  finish(): void;
  kill(): void;
}

const [NODE = '', ...CHILD] = nodeArgv(new URL('./child.js', import.meta.url));

export function launch(options: ChildOptions): Launched {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(NODE, [...CHILD, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = new Map<string, string>();
  let finished = false;
  let isReady: () => void = () => {};
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  // It is killed while the test writes.
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as FromChild;
    if (message.kind === 'answer') answers.set(message.id, message.status);
    else if (message.kind === 'finished') finished = true;
    else isReady();
  });
  const ended = new Promise<'finished' | 'killed'>((resolve, reject) => {
    child.on('close', (code, signal) => {
      isReady();
      if (finished) resolve('finished');
      else if (signal === 'SIGKILL') resolve('killed');
      else reject(new Error(`the process ended by itself, with ${code ?? signal}`));
    });
  });
  ended.catch(() => {});
  const tell = (message: ToChild): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  return {
    ...{ ready, answers, ended },
    send(event) {
      answers.delete(event.id);
      tell({ kind: 'event', event });
    },
    finish: () => tell({ kind: 'finish' }),
    kill: () => void child.kill('SIGKILL'),
  };
}
