/** The tools of every case: the load generator, the bare server, and servers under test on demand. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { BenchOptions } from './harness/arguments.ts';
import { Child } from './harness/child.ts';
import type { Rounds, Subject } from './harness/compare.ts';
import { compileYaml, ROUTES, tempFolder, writeTable } from './harness/config.ts';
import { SECRET } from './harness/payloads.ts';
import type { ServerOptions, ServerReport } from './servers/hookwright.ts';
import type { SeedOptions } from './servers/seed.ts';

export interface Ours {
  readonly child: Child;
  readonly port: number;
  readonly home: string;
  report(): Promise<ServerReport>;
  /** Resolves when all accepted work is done. */
  settled(): Promise<void>;
}

export interface OursOptions {
  readonly store: ServerOptions['store'];
  /** Watches the pauses of the event loop; default: no. */
  readonly pauses?: boolean;
  readonly yaml?: string;
  /** Other files of the home: text by path. */
  readonly files?: Readonly<Record<string, string>>;
  /** The content of the store when the server starts. */
  readonly seed?: Omit<SeedOptions, 'path'>;
  /** Called when everything is prepared and the server is about to be started. */
  readonly starting?: () => void;
}

export interface Lab {
  readonly loader: Child;
  /** Full or short measurements. */
  readonly quick: boolean;
  readonly options: BenchOptions;
  readonly rounds: Rounds;
  /** Pairs of processes to measure: a process may stay a few per cent faster than another one of the same code. */
  readonly pairs: number;
  /** Starts a bare server, runs `work`, stops it. */
  withBare<T>(work: (bare: Subject) => Promise<T>): Promise<T>;
  /** Starts a server of ours over a config (default: the routes `agent` and `filtered`), runs `work`, stops it. */
  withOurs<T>(options: OursOptions, work: (ours: Ours) => Promise<T>): Promise<T>;
}

export interface Case {
  readonly name: string;
  readonly title: string;
  /** Prints one table: the header, then rows. */
  readonly header: readonly string[];
  run(lab: Lab): Promise<readonly (readonly string[])[]>;
}

async function withOurs<T>(
  { store, pauses = false, yaml = ROUTES, files = {}, seed, starting }: OursOptions,
  work: (ours: Ours) => Promise<T>,
): Promise<T> {
  const home = tempFolder();
  if (seed !== undefined) await Child.start('servers/seed.js', { path: join(home, 'state.db'), ...seed });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const table = writeTable(home, compileYaml(home, yaml).routesJson);
  const options: ServerOptions = { home, table, store, secret: SECRET, pauses };
  starting?.();
  const { child, first } = await Child.start<{ port: number }>('servers/hookwright.js', options);
  try {
    const report = (): Promise<ServerReport> => child.ask<ServerReport>({});
    const settled = async (): Promise<void> => {
      while ((await report()).open > 0) await setTimeout(2);
    };
    return await work({ child, port: first.port, home, report, settled });
  } finally {
    await child.stop();
  }
}

async function withBare<T>(work: (bare: Subject) => Promise<T>): Promise<T> {
  const { child, first } = await Child.start<{ port: number }>('servers/bare.js');
  try {
    return await work({ child, port: first.port, path: '/', status: 202 });
  } finally {
    await child.stop();
  }
}

/** Opens the lab, runs `work` in it and closes it. */
export async function withLab(quick: boolean, options: BenchOptions, work: (lab: Lab) => Promise<void>): Promise<void> {
  const { child: loader } = await Child.start('harness/load-process.js');
  try {
    await work({
      loader,
      quick,
      options,
      // A round lasts about a second, so the wait for its last events hardly counts.
      rounds: quick ? { rounds: 3, requests: 3000, warm_up: 3000 } : { rounds: 15, requests: 8000, warm_up: 10_000 },
      pairs: quick ? 1 : 5,
      withBare,
      withOurs,
    });
  } finally {
    await loader.stop();
  }
}
