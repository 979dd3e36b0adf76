/** Writes the generated pages of `docs/`; with `--check` it only compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import { printConfigPage } from './docs/config-page.ts';
import { printRulesPage } from './docs/rules-page.ts';
import { printSourcesPage } from './docs/sources-page.ts';
import { printTargetsPage } from './docs/targets-page.ts';

const PAGES: Readonly<Record<string, () => string>> = {
  'config.md': printConfigPage,
  'rules.md': printRulesPage,
  'sources.md': printSourcesPage,
  'targets.md': printTargetsPage,
};

const isCheck = process.argv.includes('--check');
const stale = Object.entries(PAGES).filter(([name, print]) => {
  const path = new URL(`../docs/${name}`, import.meta.url);
  const text = print();
  if (isCheck) return readFileSync(path, 'utf8') !== text;
  writeFileSync(path, text);
  return false;
});
if (stale.length > 0) {
  const names = stale.map(([name]) => `docs/${name}`).join(', ');
  console.error(`${names} is stale: run \`npm run docs\` and commit the result`);
  process.exit(1);
}
