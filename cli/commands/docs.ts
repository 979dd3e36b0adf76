/** `hookwright docs`: the documentation of this version, offline. */
import { Command, Option } from 'clipanion';
import { createPaint } from '../../base/paint.ts';
import { suggest } from '../../compiler/text/suggest.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { pageNames, pagesAbout, readPage, readSections } from '../docs/pages.ts';
import { printJson, printLine, terminalWidth } from '../output/print.ts';
import { wrapBeside } from '../output/wrap-words.ts';

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
    if (this.name !== undefined) this.show(this.name.replace(/^docs\//, '').replace(/\.md$/, ''));
    else if (this.json) this.listAsJson();
    else this.list();
    return 0;
  }

  private list(): void {
    const paint = createPaint(this.context.colour.stdout);
    const width = Math.max(...pageNames().map((name) => name.length));
    for (const { title, entries } of readSections()) {
      printLine(this.context, paint('bold', title));
      for (const { name, about } of entries) this.printWrapped(`  ${name.padEnd(width)}  `, about);
      printLine(this.context);
    }
    printLine(this.context, 'hookwright docs <page> prints one.');
  }

  private printWrapped(label: string, text: string): void {
    for (const line of wrapBeside(label, text, terminalWidth(this.context))) printLine(this.context, line);
  }

  private listAsJson(): void {
    const pages = readSections().flatMap(({ title: section, entries }) =>
      entries.map(({ name, about }) => ({ name, title: readPage(name)?.title ?? name, about, section })),
    );
    printJson(this.context, pages);
  }

  private show(name: string): void {
    const page = readPage(name);
    if (page === null) {
      const near = suggest(name, pageNames()).slice(0, 1);
      const meant = near.length > 0 ? near : pagesAbout(name);
      const next = meant.map((page) => `did you mean: hookwright docs ${page}`);
      throw new CliError(`there is no page "${name}"`, ...(next.length === 0 ? ['hookwright docs lists them'] : next));
    }
    if (this.json) printJson(this.context, page);
    else this.context.stdout.write(page.text);
  }
}
