/** `npm run published-schema`, for a release: prints the schema that editors load from the address in schemastore.json. */
import { printPublishedSchema } from './docs/published-schema.ts';

process.stdout.write(await printPublishedSchema());
