/** Prints the schema for editors: what `hookwright schema config` prints, under the address that schemastore.json names. */
import { readFileSync } from 'node:fs';
import { createCatalog } from '../../cli/base/context.ts';
import { addCatalogHints, bundleSchema } from '../../modules/setup/cli/schema.ts';

const ENTRY = new URL('../../schemas/published/schemastore.json', import.meta.url);

export async function printPublishedSchema(): Promise<string> {
  const { url } = JSON.parse(readFileSync(ENTRY, 'utf8')) as { readonly url: string };
  const schema = addCatalogHints(bundleSchema('config'), await createCatalog()());
  return `${JSON.stringify({ ...schema, $id: url }, null, 1)}\n`;
}
