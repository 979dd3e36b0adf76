/** `hookwright catalog publish`: the blueprints as the JSON array of §2.8, or as a page for people. */
import { resolve } from 'node:path';
import { printGallery } from '../../../compiler/blueprints/gallery/print-gallery.ts';
import { printCatalog, publish } from '../../../compiler/blueprints/publish.ts';
import { writeAtomic } from '../../../runtime/platform/write-atomic.ts';
import { openCatalog, withNamedTargets } from '../../blueprints/open-catalog.ts';
import { command, flag, text } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { readGalleryAssets } from '../../files/gallery-assets.ts';
import { printNote } from '../../output/print.ts';

export default command({
  summary: 'Print the blueprint catalog as JSON, or as a page to choose from',
  details: 'The same blueprints give the same bytes. The page is one file that works offline.',
  examples: [
    ['Print the JSON array', '$0 catalog publish'],
    ['Write the page', '$0 catalog publish --html --out blueprints.html'],
  ],
  options: {
    out: text('file', 'Write there instead of printing'),
    html: flag('Make the gallery page'),
    appScheme: text('scheme', 'URL scheme of the application links. Default: app_scheme of the config'),
    config: configOption,
  },
  async run(context, given) {
    const { plans, targets, appScheme } = await openCatalog(context, {
      configs: given.config,
      appScheme: given.appScheme,
    });
    // The page is for people; the array names targets as the table does.
    const shown = given.html ? [...plans.values()].map((plan) => withNamedTargets(plan, targets)) : plans.values();
    const catalog = publish(shown, appScheme);
    const text = given.html ? printGallery(catalog, appScheme, readGalleryAssets()) : printCatalog(catalog);
    if (given.out === undefined) {
      context.stdout.write(text);
      return;
    }
    writeAtomic(resolve(context.cwd, given.out), text, 0o644);
    printNote(context, `wrote ${catalog.length} blueprints to ${given.out}`);
  },
});
