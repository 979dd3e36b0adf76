/** The console: the cost of open pages for the intake, and the time of lists and pages with large stores. */

import { buildProgram } from '../harness/build.ts';
import type { Case, Lab } from '../lab.ts';
import { intake } from './console/intake.ts';
import { lists } from './console/lists.ts';
import { pages } from './console/pages.ts';

/** By the names that `--only` accepts. */
const PARTS: Readonly<Record<string, (lab: Lab) => Promise<readonly (readonly string[])[]>>> = {
  intake,
  lists,
  pages,
};

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
