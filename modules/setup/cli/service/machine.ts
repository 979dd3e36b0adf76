/** What installing a service needs of the machine; a test has another one. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { writeAtomic } from '../../../../runtime/platform/write-atomic.ts';

export interface ServiceMachine {
  readonly isRoot: boolean;
  readonly userName: string;
  /** Whether this machine was booted with systemd, as in sd_booted(3). */
  readonly hasSystemd: boolean;
  /** null: there is no such file. */
  readonly read: (path: string) => string | null;
  readonly write: (path: string, text: string) => void;
  /** Runs a program on the terminal of this one. @returns what went wrong, null when nothing did */
  readonly run: (argv: readonly string[]) => string | null;
}

export function thisMachine(env: NodeJS.ProcessEnv): ServiceMachine {
  const { uid, username } = userInfo();
  return {
    isRoot: uid === 0,
    userName: username,
    hasSystemd: existsSync('/run/systemd/system'),
    read: (path) => (existsSync(path) ? readFileSync(path, 'utf8') : null),
    write: (path, text) => {
      mkdirSync(dirname(path), { recursive: true });
      writeAtomic(path, text, 0o644);
    },
    run: ([program = '', ...args]) => {
      const { error, status, signal } = spawnSync(program, args, { env, stdio: 'inherit' });
      if (error !== undefined) return error.message;
      return status === 0 ? null : `exit ${signal ?? status}`;
    },
  };
}
