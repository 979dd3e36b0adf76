/** Where `compile` writes tables: next to ./hookwright.yaml, otherwise next to the configuration of the home. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CliContext } from '../base/context.ts';

export function builtFolder({ cwd, home }: Pick<CliContext, 'cwd' | 'home'>): string {
  const here = join(cwd, 'build', 'routes.json');
  return dirname(existsSync(here) ? here : join(home, 'build', 'routes.json'));
}
