/** `hookwright schema`: the JSON Schemas of the files a user writes, for editors and other tools. */
import { Command, Option } from 'clipanion';
import { suggest } from '../../compiler/text/suggest.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { loadPart } from '../base/module.ts';
import { printJson, printLine } from '../output/print.ts';
import type { Schema } from '../schema/bundle-schema.ts';
import { bundleSchema, readSchema, schemaNames } from '../schema/bundle-schema.ts';
import { addCatalogHints } from '../schema/catalog-hints.ts';

export class SchemaCommand extends Command<CliContext> {
  static override paths = [['schema']];
  static override usage = Command.Usage({
    description: 'Print the JSON Schema of one kind of file, for editors',
    details:
      'Without a name it lists the schemas. References between schemas are inlined, so that the output stands alone. `x-payload` marks what names fields of payloads; with --source these places list the fields of that sender, as `examples` (which editors offer) and `x-payload-paths`.',
    examples: [
      ['Let an editor check hookwright.yaml', '$0 schema config > hookwright.schema.json'],
      ['With the fields of a sender, for completion', '$0 schema config --source github --event pull_request'],
      ['List the schemas', '$0 schema'],
    ],
  });

  json = Option.Boolean('--json', false, { description: 'List the names as JSON' });
  source = Option.String('--source', { description: '<source> Add the events and payload paths of this sender' });
  event = Option.Array('--event', { description: '<event> Only the paths of this event; may be repeated' });
  name = Option.String({ required: false, name: 'schema' });

  async execute(): Promise<number> {
    const names = schemaNames();
    if (this.name === undefined) {
      if (this.json)
        printJson(
          this.context,
          names.map((name) => ({ name, title: String(readSchema(name).title) })),
        );
      else for (const name of names) printLine(this.context, name);
      return 0;
    }
    if (!names.includes(this.name)) {
      const [close] = suggest(this.name, names);
      throw new CliError(
        `there is no schema "${this.name}"`,
        close === undefined ? `one of: ${names.join(', ')}` : `did you mean: hookwright schema ${close}`,
      );
    }
    const bundled = bundleSchema(this.name);
    const schema = this.name === 'config' ? addCatalogHints(bundled, await this.context.catalog()) : bundled;
    printJson(this.context, this.source === undefined ? schema : await this.withPayloads(schema, this.source));
    return 0;
  }

  private async withPayloads(schema: Schema, source: string): Promise<unknown> {
    const payloads = await loadPart(this.context.modules, 'payloads');
    return payloads.addHints(this.context, schema, source, this.event ?? []);
  }
}
