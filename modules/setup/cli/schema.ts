/** `hookwright schema`: the JSON Schemas of the files a user writes, for editors and other tools. */
import { CliError } from '../../../cli/base/errors.ts';
import { loadPart } from '../../../cli/base/module.ts';
import { command, flag, list, optionalArgument, text } from '../../../cli/command-line/command.ts';
import { printJson, printLine } from '../../../cli/output/print.ts';
import { suggest } from '../../../compiler/text/suggest.ts';
import { bundleSchema, readSchema, schemaNames } from './schema/bundle-schema.ts';
import { addCatalogHints } from './schema/catalog-hints.ts';

export const schemaCommand = command({
  summary: 'Print the JSON Schema of one kind of file, for editors',
  details:
    'Without a name it lists the schemas. References between schemas are inlined, so that the output stands alone. `x-payload` marks what names fields of payloads; with --source these places list the fields of that sender, as `examples` (which editors offer) and `x-payload-paths`.',
  examples: [
    ['Let an editor check hookwright.yaml', '$0 schema config > hookwright.schema.json'],
    ['With the fields of a sender, for completion', '$0 schema config --source github --event pull_request'],
    ['List the schemas', '$0 schema'],
  ],
  options: {
    json: flag('List the names as JSON'),
    source: text('source', 'Add the events and payload paths of this sender'),
    event: list('event', 'Only the paths of this event; may be repeated'),
  },
  args: { name: optionalArgument('schema') },
  async run(context, given) {
    const names = schemaNames();
    if (given.name === undefined) {
      const listed = names.map((name) => ({ name, title: String(readSchema(name).title) }));
      if (given.json) return printJson(context, listed);
      for (const { name } of listed) printLine(context, name);
      return;
    }
    if (!names.includes(given.name)) {
      const [close] = suggest(given.name, names);
      throw new CliError(
        `there is no schema "${given.name}"`,
        close === undefined ? `one of: ${names.join(', ')}` : `did you mean: hookwright schema ${close}`,
      );
    }
    const bundled = bundleSchema(given.name);
    const schema = given.name === 'config' ? addCatalogHints(bundled, await context.catalog()) : bundled;
    if (given.source === undefined) return printJson(context, schema);
    const payloads = await loadPart(context.modules, 'payloads');
    printJson(context, await payloads.addHints(context, schema, given.source, given.event ?? []));
  },
});
