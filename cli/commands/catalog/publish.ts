/** `hookwright catalog publish`: the blueprints as the JSON array of §2.8, or as a page for people. */
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import { printGallery } from '../../../compiler/blueprints/gallery/print-gallery.ts';
import { printCatalog, publish } from '../../../compiler/blueprints/publish.ts';
import { writeAtomic } from '../../../runtime/platform/write-atomic.ts';
import type { CliContext } from '../../base/context.ts';
import { withNamedTargets } from '../../blueprints/named-targets.ts';
import { openCatalog } from '../../blueprints/open-catalog.ts';
import { configOption } from '../../command-line/options.ts';
import { readGalleryAssets } from '../../files/gallery-assets.ts';
import { printNote } from '../../output/print.ts';

export class CatalogPublishCommand extends Command<CliContext> {
  static override paths = [['catalog', 'publish']];
  static override usage = Command.Usage({
    description: 'Print the blueprint catalog as JSON, or as a page to choose from',
    details: 'The same blueprints give the same bytes. The page is one file that works offline.',
    examples: [
      ['Print the JSON array', '$0 catalog publish'],
      ['Write the page', '$0 catalog publish --html --out blueprints.html'],
    ],
  });

  out = Option.String('--out', { description: '<file> Write there instead of printing' });
  html = Option.Boolean('--html', false, { description: 'Make the gallery page' });
  appScheme = Option.String('--app-scheme', {
    description: '<scheme> URL scheme of the application links. Default: app_scheme of the config',
  });
  config = configOption();

  async execute(): Promise<number> {
    const { plans, targets, appScheme } = await openCatalog(this.context, {
      configs: this.config,
      appScheme: this.appScheme,
    });
    // The page is for people; the array names targets as the table does.
    const shown = this.html ? [...plans.values()].map((plan) => withNamedTargets(plan, targets)) : plans.values();
    const catalog = publish(shown, appScheme);
    const text = this.html ? printGallery(catalog, appScheme, readGalleryAssets()) : printCatalog(catalog);
    if (this.out === undefined) {
      this.context.stdout.write(text);
      return 0;
    }
    writeAtomic(resolve(this.context.cwd, this.out), text, 0o644);
    printNote(this.context, `wrote ${catalog.length} blueprints to ${this.out}`);
    return 0;
  }
}
