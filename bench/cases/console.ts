/** The console: what open pages cost the intake, and how long lists take where much is stored. */

import { buildProgram } from '../harness/build.ts';
import type { Case, Lab } from '../lab.ts';
import { intake } from './console/intake.ts';
import { lists } from './console/lists.ts';

/** By the names that `--only` takes. */
const PARTS: Readonly<Record<string, (lab: Lab) => Promise<readonly (readonly string[])[]>>> = { intake, lists };

export const consoleCase: Case = {
  name: 'console',
  title: 'The console: pages that follow 1,000 events a second, and lists of 100,000',
  header: ['', 'figure', 'beside', 'ratio', 'goal'],
  async run(lab) {
    buildProgram();
    const rows: (readonly string[])[] = [];
    for (const name of lab.options.only ?? Object.keys(PARTS)) {
      const part = PARTS[name];
      if (part === undefined) throw new Error(`unknown part: ${name}; there are ${Object.keys(PARTS).join(', ')}`);
      rows.push(...(await part(lab)));
    }
    return rows;
  },
};
