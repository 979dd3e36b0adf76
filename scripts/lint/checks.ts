/** Lists and runs the static checks of `npm run lint` and `npm run test:all`, except for the types. */
import { startOwned } from '../start-owned.ts';

/** Returns node's arguments by name of the check. @param script returns the arguments that run a script of this repository */
export const checksWith = (
  script: (name: string) => readonly string[],
): Readonly<Record<string, readonly string[]>> => ({
  format: ['node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  gen: [...script('scripts/gen'), '--check'],
  docs: [...script('scripts/docs'), '--check'],
  // Browser code has other global types.
  console: ['node_modules/typescript/bin/tsc', '-p', 'modules/console/pages', '--noEmit'],
  page: ['node_modules/typescript/bin/tsc', '-p', 'scripts/playground/page'],
});

/** Runs them concurrently. @returns whether all passed */
export async function runChecks(root: string, checks: Readonly<Record<string, readonly string[]>>): Promise<boolean> {
  const passed = await Promise.all(Object.entries(checks).map(([name, args]) => runCheck(root, name, args)));
  return !passed.includes(false);
}

/** Prints the output as a whole, so that outputs are not mixed. @returns whether the check passed */
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
