/** `hookwright catalog publish`: the blueprints as the JSON array of §2.8. */
import { resolve } from 'node:path';
import { command, text } from '../../../../../cli/command-line/command.ts';
import { configOption } from '../../../../../cli/command-line/options.ts';
import { printNote } from '../../../../../cli/output/print.ts';
import { printCatalog } from '../../../../../compiler/emit/emit-table.ts';
import { writeAtomic } from '../../../../../runtime/platform/write-atomic.ts';
import { publish } from '../../../compiler/publish.ts';
import { openCatalog } from '../../open-catalog.ts';

export default command({
  summary: 'Print the blueprint catalog as JSON',
  details:
    'The same blueprints give the same bytes. A page to choose from is in the console: `hookwright docs operations`.',
  examples: [
    ['Print the JSON array', '$0 catalog publish'],
    ['Write it to a file', '$0 catalog publish --out blueprints.json'],
  ],
  options: {
    out: text('file', 'Write there instead of printing'),
    appScheme: text('scheme', 'URL scheme of the application links. Default: app_scheme of the config'),
    config: configOption,
  },
  async run(context, given) {
    const { plans, appScheme } = await openCatalog(context, {
      configs: given.config,
      appScheme: given.appScheme,
    });
    const catalog = publish(plans.values(), appScheme);
    const text = printCatalog(catalog);
    if (given.out === undefined) {
      context.stdout.write(text);
      return;
    }
    writeAtomic(resolve(context.cwd, given.out), text, 0o644);
    printNote(context, `wrote ${catalog.length} blueprints to ${given.out}`);
  },
});
