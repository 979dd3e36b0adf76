/** Prints the table of filter operators in docs/routes.md from the schema of a route. */
import { readFileSync } from 'node:fs';
import { OPERATORS } from '../../compiler/config/grammar.ts';
import { readSchema } from '../../modules/setup/cli/schema.ts';
import { code, escapeText, table } from './markdown.ts';

interface Described {
  readonly description: string;
  readonly examples: readonly unknown[];
}

const BEGIN = '<!-- operators: written by scripts/docs.ts from schemas/route.schema.json -->';
const END = '<!-- end of operators -->';

/** Returns the page with the table from the schema; the rest is unchanged. */
export function printRoutesPage(): string {
  const page = readFileSync(new URL('../../docs/routes.md', import.meta.url), 'utf8');
  const [before = '', rest = ''] = page.split(BEGIN);
  const [, after = ''] = rest.split(END);
  return `${before}${BEGIN}\n\n${operatorsTable()}\n\n${END}${after}`;
}

function operatorsTable(): string {
  const { $defs } = readSchema('route') as { $defs: { filter: { properties: Record<string, Described> } } };
  const rows = OPERATORS.map((operator) => {
    const { description, examples } = $defs.filter.properties[operator] as Described;
    return [code(`${operator}: ${JSON.stringify(examples[0])}`), escapeText(description)];
  });
  return table(['operator', 'meaning'], rows);
}
