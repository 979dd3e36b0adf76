/** `npm run lint`: runs all static checks, such as format, types, wording, and whether generated files are up to date. */
import { fileURLToPath } from 'node:url';
import { checksWith, runChecks } from './lint/checks.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const passed = await runChecks(ROOT, {
  types: ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.json'],
  ...checksWith((name) => ['--import', 'tsx', `${name}.ts`]),
  wording: ['--import', 'tsx', 'scripts/lint/wording.ts'],
  grammar: ['--import', 'tsx', 'scripts/lint/grammar.ts'],
});
if (!passed) process.exit(1);
