/** `hookwright docs`: the documentation of this version, offline. */
import { createPaint } from '../../base/paint.ts';
import { suggest } from '../../compiler/text/suggest.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import type { GivenBy } from '../command-line/command.ts';
import { command, flag, optionalArgument } from '../command-line/command.ts';
import { pageNames, pagesAbout, readPage, readSections } from '../docs/pages.ts';
import { printBeside, printJson, printLine } from '../output/print.ts';

const options = { json: flag('Print JSON') };

type Given = GivenBy<typeof options>;

export default command({
  summary: 'Print a page of the documentation of this version, offline',
  details: 'Without a name it lists the pages. They are Markdown: `hookwright docs agents | less`.',
  examples: [
    ['What there is', '$0 docs'],
    ['Where to start', '$0 docs tutorial'],
  ],
  options,
  args: { name: optionalArgument('page') },
  async run(context, given) {
    if (given.name !== undefined) show(context, given, given.name.replace(/^docs\//, '').replace(/\.md$/, ''));
    else if (given.json) listAsJson(context);
    else list(context);
  },
});

function list(context: CliContext): void {
  const paint = createPaint(context.colour.stdout);
  const width = Math.max(...pageNames().map((name) => name.length));
  for (const { title, entries } of readSections()) {
    printLine(context, paint('bold', title));
    for (const { name, about } of entries) printBeside(context, `  ${name.padEnd(width)}  `, about);
    printLine(context);
  }
  printLine(context, 'hookwright docs <page> prints one.');
}

function listAsJson(context: CliContext): void {
  const pages = readSections().flatMap(({ title: section, entries }) =>
    entries.map(({ name, about }) => ({ name, title: readPage(name)?.title ?? name, about, section })),
  );
  printJson(context, pages);
}

function show(context: CliContext, given: Given, name: string): void {
  const page = readPage(name);
  if (page === null) {
    const near = suggest(name, pageNames()).slice(0, 1);
    const meant = near.length > 0 ? near : pagesAbout(name);
    const next = meant.map((page) => `did you mean: hookwright docs ${page}`);
    throw new CliError(`there is no page "${name}"`, ...(next.length === 0 ? ['hookwright docs lists them'] : next));
  }
  if (given.json) printJson(context, page);
  else context.stdout.write(page.text);
}
