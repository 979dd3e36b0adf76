/** `hookwright docs`: the documentation of this version, offline. */
import { Command, Option } from 'clipanion';
import { suggest } from '../../compiler/text/suggest.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import type { DocsPage } from '../docs/pages.ts';
import { pageNames, readPage } from '../docs/pages.ts';
import { printJson } from '../output/print.ts';
import type { Column } from '../output/table.ts';
import { printTable } from '../output/table.ts';

const COLUMNS: readonly Column<DocsPage>[] = [
  { title: 'PAGE', value: ({ name }) => name },
  { title: 'TITLE', value: ({ title }) => title },
];

export class DocsCommand extends Command<CliContext> {
  static override paths = [['docs']];
  static override usage = Command.Usage({
    description: 'Print a page of the documentation of this version, offline',
    details: 'Without a name it lists the pages. They are Markdown: `hookwright docs agents | less`.',
    examples: [
      ['What there is', '$0 docs'],
      ['Where to start', '$0 docs tutorial'],
    ],
  });

  json = Option.Boolean('--json', false, { description: 'Print JSON' });
  name = Option.String({ required: false, name: 'page' });

  async execute(): Promise<number> {
    if (this.name === undefined) this.list(pageNames().flatMap((name) => readPage(name) ?? []));
    else this.show(this.name.replace(/^docs\//, '').replace(/\.md$/, ''));
    return 0;
  }

  private list(pages: readonly DocsPage[]): void {
    if (this.json)
      printJson(
        this.context,
        pages.map(({ name, title }) => ({ name, title })),
      );
    else printTable(this.context, pages, COLUMNS, 'no pages came with this program');
  }

  private show(name: string): void {
    const page = readPage(name);
    if (page === null) {
      const [close] = suggest(name, pageNames());
      const next = close === undefined ? 'hookwright docs lists them' : `did you mean: hookwright docs ${close}`;
      throw new CliError(`there is no page "${name}"`, next);
    }
    if (this.json) printJson(this.context, page);
    else this.context.stdout.write(page.text);
  }
}
