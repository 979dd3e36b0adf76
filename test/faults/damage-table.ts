/** The long run of damage: every kind of damage, and a byte at many places, on a used home and on a new one. */
import { join } from 'node:path';
import { printTable } from '../../bench/harness/print-table.ts';
import type { DamageResult } from './damage.ts';
import { killWithLog, runDamage } from './damage.ts';
import { FILES, fileDamages, makeHomes, runFileCorpus, STOPS } from './file-damage.ts';
import { killWriters } from './log-kills.ts';
import { startProgress } from './progress.ts';
import { makeRows, ROW_DAMAGES, runRows } from './row-damage.ts';
import { removeHome } from './short-run.ts';
import type { Damage } from './wal.ts';
import { DAMAGES, flipAt } from './wal.ts';

const PLACES = 20;

const ALL: readonly Damage[] = [...DAMAGES, ...Array.from({ length: PLACES }, (_, at) => flipAt(at / PLACES))];

/** Prints a row for each damage. @returns the number of unreported or wrongly reported ones */
export async function damageTable(root: string, program: readonly string[]): Promise<number> {
  const rows: string[][] = [];
  const progress = startProgress('damage', 2 * ALL.length);
  let broken = 0;
  for (const [name, isNew] of [
    ['in use', false],
    ['new', true],
  ] as const) {
    const killed = await killWithLog(join(root, `killed ${name}`), isNew, program);
    for (const damage of ALL) {
      const to = join(root, 'cell');
      const result = await runDamage(killed, to, damage, program);
      removeHome(to);
      if (result.wrong.length > 0) broken++;
      rows.push(row(name, killed.acknowledged.length, damage, result));
      progress();
    }
  }
  const header = ['home', 'damage', 'acknowledged', 'lost', 'to be said', ''];
  console.log(`${printTable(header, rows)}\n`);
  return broken;
}

const CUTS = 20;
const FLIPS = 200;

/**
 * Prints a row for each file and damage of it. @returns how many lost an event silently; a flipped byte may leave a
 * plausible text
 */
export async function fileTable(root: string): Promise<number> {
  const damages = fileDamages(CUTS, FLIPS);
  const progress = startProgress('files', STOPS.length * FILES.length * damages.length);
  const rows = await runFileCorpus(await makeHomes(root), damages, progress);
  const header = ['stop', 'file', 'damage', 'cells', 'start refused', 'said', 'harmless', 'silent'];
  const cells = rows.map(({ stop, file, damage, cells: count, refused, said, harmless, silent }) => [
    ...[stop, file, damage, ...[count, refused, said, harmless].map(String)],
    silent.length === 0 ? '0' : `${silent.length} (${silent.join(' ')})`,
  ]);
  console.log(`${printTable(header, cells)}\n`);
  return rows.filter(({ damage, silent }) => damage !== 'flipped' && silent.length > 0).length;
}

const KILLS = 300;

/** Prints the number of kills. @returns how many starts reported damage of a whole file, or lacked an event */
export async function killTable(root: string): Promise<number> {
  const { kills, marked, wrong } = await killWriters(root, KILLS, startProgress('kills', KILLS));
  console.log(
    `${printTable(['kills', 'log known', ''], [[String(kills), String(marked), wrong.join('; ') || 'kept']])}\n`,
  );
  return wrong.length;
}

/** Prints a row for each damage of a value. @returns how many stopped other work, or were not reported */
export async function rowTable(root: string): Promise<number> {
  const home = await makeRows(root);
  const rows: string[][] = [];
  const progress = startProgress('rows', Object.keys(ROW_DAMAGES).length);
  let broken = 0;
  for (const name of Object.keys(ROW_DAMAGES)) {
    const { columns, said, wrong } = await runRows(home, name);
    broken += wrong.length;
    rows.push([name, String(columns), String(said), wrong.length === 0 ? 'kept' : `BROKEN: ${wrong.join('; ')}`]);
    progress();
  }
  console.log(`${printTable(['damage', 'columns', 'said', ''], rows)}\n`);
  return broken;
}

function row(home: string, acknowledged: number, { name, said }: Damage, { lost, wrong }: DamageResult): string[] {
  const what = wrong.length === 0 ? 'kept' : `BROKEN: ${wrong.map((line) => line.split('\n')[0]).join('; ')}`;
  return [home, name, String(acknowledged), String(lost), said === true ? 'yes' : said || 'no', what];
}
