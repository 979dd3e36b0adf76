/** Prints the schema for editors: the output of `hookwright schema config`, with the address from schemastore.json. */
import { readFileSync } from 'node:fs';
import { createCatalog } from '../../cli/base/context.ts';
import { addCatalogHints, bundleSchema } from '../../modules/setup/cli/schema.ts';

const ENTRY = new URL('../../schemas/published/schemastore.json', import.meta.url);

export async function printPublishedSchema(): Promise<string> {
  const { url } = JSON.parse(readFileSync(ENTRY, 'utf8')) as { readonly url: string };
  const schema = addCatalogHints(bundleSchema('config'), await createCatalog()());
  return `${JSON.stringify({ ...schema, $id: url }, null, 1)}\n`;
}
