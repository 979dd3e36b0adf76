/**
 * `npm run test:faults [-- [kind …] [--every N]]`: the whole fault table. Each sync and each write of a short run of
 * the built program fails once, in a separate process. Then come damage of the log, kills, damage of the files, and
 * damage of values. Prints tables, and exits with 1 when a promise was broken.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findDiskTool, skipWithoutDisk } from '../helpers/disk/disk-tool.ts';
import { ROOT } from '../helpers/root.ts';
import { damageTable, fileTable, killTable, rowTable } from './damage-table.ts';
import { faultTable } from './fault-table.ts';
import { KINDS, kindsWith } from './kinds.ts';
import { prepareHome, removeHome } from './short-run.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { every: { type: 'string' } } });
const every = values.every === undefined ? undefined : Number(values.every);
const names = [...KINDS.map(({ name }) => name), 'damage', 'kills', 'files', 'rows'];
const isWanted = (name: string): boolean => positionals.length === 0 || positionals.includes(name);
const unknown = positionals.filter((word) => !names.includes(word));
if (unknown.length > 0 || (every !== undefined && !(Number.isInteger(every) && every > 0))) {
  console.error(`usage: test:faults [kind …] [--every <count>]; kinds: ${names.join(' ')}`);
  process.exit(2);
}
const tool = findDiskTool();
if (tool === null) {
  skipWithoutDisk(false, 'strace or a C compiler');
  process.exit(1);
}
if (spawnSync('npm', ['run', '-s', 'build'], { cwd: ROOT, stdio: 'inherit' }).status !== 0) process.exit(1);
const program = [process.execPath, join(ROOT, 'dist/cli/main.js')];
const root = mkdtempSync(join(tmpdir(), 'hookwright-faults-'));
let broken = 0;
try {
  const prepared = join(root, 'prepared');
  await prepareHome(prepared, program);
  const kinds = kindsWith(tool).filter(({ name }) => isWanted(name));
  if (kinds.length > 0) {
    console.log(`Faults of the disk (through ${tool.name}); a number names the call that fails\n`);
    broken += await faultTable({ root, prepared, program, tool, kinds, every });
  }
  if (isWanted('damage')) {
    console.log('Damage of the log after a kill\n');
    broken += await damageTable(root, program);
  }
  if (isWanted('kills')) {
    console.log('Kills of a process that writes a store, whose log is known by its salt\n');
    broken += await killTable(mkdtempSync(join(root, 'kills-')));
  }
  if (isWanted('rows')) {
    console.log('Damage of values, in each column of each table\n');
    broken += await rowTable(mkdtempSync(join(root, 'rows-')));
  }
  if (isWanted('files')) {
    console.log('Damage of the files of the store\n');
    broken += await fileTable(mkdtempSync(join(root, 'files-')));
  }
} finally {
  removeHome(root);
}
process.exit(broken === 0 ? 0 : 1);
