/** Fills the fault table: for each kind of fault, a cell for each call of the short run, and a row of their results. */
import { join } from 'node:path';
import { printTable } from '../../bench/harness/print-table.ts';
import type { DiskTool } from '../helpers/disk/disk-plan.ts';
import type { FaultKind } from './kinds.ts';
import { startProgress } from './progress.ts';
import type { FaultResult } from './run-fault.ts';
import { runFault } from './run-fault.ts';
import { removeHome } from './short-run.ts';

export interface FaultTable {
  readonly root: string;
  readonly prepared: string;
  readonly program: readonly string[];
  readonly tool: DiskTool;
  readonly kinds: readonly FaultKind[];
  /** Tests every n-th call; undefined: the default of the kind. */
  readonly every: number | undefined;
}

interface Cell extends FaultResult {
  readonly nth: number;
}

/** Concurrent cells; they mostly wait. */
const AT_ONCE = 2;
/** The number of calls differs a little from run to run, so a single run that does not reach a call is not the end. */
const MISSES = 4;

/** No run makes so many calls: a run whose fault is this one only counts them. */
const NEVER = 60_000;

const HEADER = ['fault', 'calls', 'cells', 'kept', 'broken', 'start refused', 'accepted', 'refused', 'broken at'];

/** Prints the cells that broke a promise, then the table. @returns the number of these cells */
export async function faultTable(table: FaultTable): Promise<number> {
  const rows: string[][] = [];
  let broken = 0;
  const [first] = table.kinds;
  const { calls } = first === undefined ? { calls: null } : await cellAt(table, first, NEVER);
  for (const kind of table.kinds) {
    const count = calls?.[kind.call] ?? 0;
    const cells = await cellsOf(table, kind, startProgress(kind.name, Math.ceil(count / stepOf(table, kind)) + MISSES));
    const bad = cells.filter(({ wrong }) => wrong.length > 0);
    broken += bad.length;
    rows.push(row(kind, cells, bad));
  }
  console.log(`\n${printTable(HEADER, rows)}\n`);
  return broken;
}

const stepOf = ({ every }: FaultTable, kind: FaultKind): number => every ?? kind.every;

async function cellsOf(table: FaultTable, kind: FaultKind, progress: () => void): Promise<readonly Cell[]> {
  const cells: Cell[] = [];
  const step = stepOf(table, kind);
  let next = 1;
  let missed = 0;
  const worker = async (): Promise<void> => {
    while (missed < MISSES) {
      const nth = next;
      next += step;
      const cell = await cellAt(table, kind, nth);
      if (cell.reached) cells.push(cell);
      else missed++;
      report(kind, cell);
      progress();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return cells.sort((a, b) => a.nth - b.nth);
}

async function cellAt({ root, prepared, program, tool }: FaultTable, kind: FaultKind, nth: number): Promise<Cell> {
  const home = join(root, `${kind.name}-${nth}`);
  const { call, error, lastsMs } = kind;
  try {
    return { nth, ...(await runFault({ prepared, home, tool, program, fault: { call, error, nth, lastsMs } })) };
  } finally {
    removeHome(home);
  }
}

function report({ name }: FaultKind, { nth, reached, wrong }: Cell): void {
  if (!reached && wrong.length === 0) return;
  if (wrong.length > 0) console.log(`${name} #${nth}: BROKEN`);
  for (const line of wrong.slice(0, 8)) console.log(`    ${line}`);
}

function row({ name }: FaultKind, cells: readonly Cell[], bad: readonly Cell[]): string[] {
  const sum = (figure: (cell: Cell) => number): string => String(cells.reduce((all, cell) => all + figure(cell), 0));
  return [
    name,
    `1-${cells.at(-1)?.nth ?? 0}`,
    String(cells.length),
    String(cells.length - bad.length),
    String(bad.length),
    sum(({ refusedStart }) => Number(refusedStart)),
    sum(({ accepted }) => accepted),
    sum(({ refused }) => refused),
    bad.map(({ nth }) => nth).join(' '),
  ];
}
