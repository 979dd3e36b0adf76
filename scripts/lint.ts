/** Checks everything that can be checked without running it: format, types, and that the generated files are fresh. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** By name, the arguments of node. They run beside each other. */
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  format: ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  types: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'],
  gen: ['--import', 'tsx', 'scripts/gen.ts', '--check'],
  docs: ['--import', 'tsx', 'scripts/docs.ts', '--check'],
};

/** @returns whether it passed; what it said is printed at once, not between the lines of another */
function check(name: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  return new Promise((resolve) => {
    child.once('close', (code) => {
      process.stderr.write(code === 0 ? said : `${said}lint: ${name} failed\n`);
      resolve(code === 0);
    });
  });
}

const passed = await Promise.all(Object.entries(CHECKS).map(([name, args]) => check(name, args)));
if (passed.includes(false)) process.exit(1);
