/** The command line of the benches: names of cases, `--quick`, and options of cases. */
import { parseArgs } from 'node:util';

/** Options that narrow the open-loop case; undefined: all of its cells. */
export interface BenchOptions {
  /** Requests per second, or `2x` for twice the capacity. */
  readonly rate: readonly string[] | undefined;
  /** Minimum time of a sync, in ms. */
  readonly sync: readonly number[] | undefined;
  readonly seconds: number | undefined;
  /** Speed of the disk, in MB per second. */
  readonly diskMb: number | undefined;
  readonly durability: 'full' | 'normal';
  /** Parts of the cluster case; undefined: all. */
  readonly only: readonly string[] | undefined;
  /** Events or rows of a large part of the cluster case; undefined: the part's default. */
  readonly events: number | undefined;
}

export interface BenchArguments {
  /** Empty: all. */
  readonly cases: readonly string[];
  readonly quick: boolean;
  readonly options: BenchOptions;
}

const USAGE =
  'options: --quick; for open-loop --rate <n|2x>,… --sync <ms>,… --seconds <n> --disk-mb <n> --durability full|normal; ' +
  'for cluster --only <part>,… --events <n>';

/** @throws Error with the valid values */
export function parseArguments(argv: readonly string[], cases: readonly string[]): BenchArguments {
  const usage = `cases: ${cases.join(' ')}; ${USAGE}`;
  const text = { type: 'string' } as const;
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        quick: { type: 'boolean' },
        rate: text,
        sync: text,
        seconds: text,
        durability: text,
        'disk-mb': text,
        only: text,
        events: text,
      },
    });
    const unknown = positionals.filter((word) => !cases.includes(word));
    if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(' ')}`);
    const { quick = false, rate, sync, seconds, durability = 'full', only, events } = values;
    if (durability !== 'full' && durability !== 'normal') throw new Error(`unknown durability: ${durability}`);
    return {
      cases: positionals,
      quick,
      options: {
        rate: rate?.split(',').map((word) => (word === '2x' ? word : String(positive(word)))),
        sync: sync?.split(',').map((word) => (word === '0' ? 0 : positive(word))),
        seconds: seconds === undefined ? undefined : positive(seconds),
        diskMb: values['disk-mb'] === undefined ? undefined : positive(values['disk-mb']),
        durability,
        only: only?.split(','),
        events: events === undefined ? undefined : positive(events),
      },
    };
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

function positive(word: string): number {
  const value = Number(word);
  if (!(value > 0 && Number.isFinite(value))) throw new Error(`not a positive number: ${word}`);
  return value;
}
