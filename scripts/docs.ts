/** Writes the generated pages of `docs/`. With `--check`, it only compares them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { printCliPage } from './docs/cli-page.ts';
import { printConfigPage } from './docs/config-page.ts';
import { printMessagesPage } from './docs/messages-page.ts';
import { printRoutesPage } from './docs/operators-table.ts';
import { printRulesPage } from './docs/rules-page.ts';
import { printSourcesPage } from './docs/sources-page.ts';
import { printTargetsPage } from './docs/targets-page.ts';

/** Texts by path in the repository. */
const FILES: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/cli.md': printCliPage,
  'docs/config.md': printConfigPage,
  'docs/messages.md': printMessagesPage,
  'docs/routes.md': printRoutesPage,
  'docs/rules.md': printRulesPage,
  'docs/sources.md': printSourcesPage,
  'docs/targets.md': printTargetsPage,
};

const isCheck = process.argv.includes('--check');
const stale: string[] = [];
for (const [name, print] of Object.entries(FILES)) {
  const path = new URL(`../${name}`, import.meta.url);
  const text = await print();
  if (!isCheck) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) stale.push(name);
}
if (stale.length > 0) {
  console.error(`${stale.join(', ')} is stale: run \`npm run docs\` and commit the result`);
  process.exit(1);
}
