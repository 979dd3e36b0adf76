/** What `npm run lint` and `npm test` check without running it, beside the types. */
import { startOwned } from '../start-owned.ts';

/** By name, the arguments of node. @param script those that run a script of this repository, named without its ending */
export const checksWith = (
  script: (name: string) => readonly string[],
): Readonly<Record<string, readonly string[]>> => ({
  format: ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  gen: [...script('scripts/gen'), '--check'],
  docs: [...script('scripts/docs'), '--check'],
  // What a browser runs, with the types of its globals.
  console: ['node_modules/typescript/bin/tsc', '-p', 'modules/console/pages', '--noEmit'],
  page: ['node_modules/typescript/bin/tsc', '-p', 'scripts/playground/page'],
});

/** Runs them concurrently. @returns whether all passed */
export async function runChecks(root: string, checks: Readonly<Record<string, readonly string[]>>): Promise<boolean> {
  const passed = await Promise.all(Object.entries(checks).map(([name, args]) => runCheck(root, name, args)));
  return !passed.includes(false);
}

/** @returns whether it passed; what it said is printed at once, not between the lines of another */
function runCheck(root: string, name: string, args: readonly string[]): Promise<boolean> {
  const child = startOwned(args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
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
