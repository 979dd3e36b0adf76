/** `hookwright playground`: writes the page that compiles and explains in a browser. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { assetFolder } from '../../../base/assets.ts';
import { isSystemError } from '../../../base/system-error.ts';
import { CliError } from '../../../cli/base/errors.ts';
import { command, text } from '../../../cli/command-line/command.ts';
import { printLine } from '../../../cli/output/print.ts';
import { writeAtomic } from '../../../runtime/platform/write-atomic.ts';

/** The one file, in the folder that `scripts/build.ts` makes. */
const PAGE = 'index.html';

export const playgroundCommand = command({
  summary: 'Write a page that compiles and explains in the browser',
  details:
    'The page has a configuration on the left and a payload on the right; below them are the diagnostics of `lint`, live, and what `explain` says. It is one file with the compiler in it: it needs no server, and sends nothing anywhere.',
  examples: [
    ['Write playground/index.html', '$0 playground'],
    ['Elsewhere', '$0 playground --out public/try'],
  ],
  options: { out: text('folder', 'Where to write it. Default: playground') },
  async run(context, { out = 'playground' }) {
    const folder = resolve(context.cwd, out);
    const path = join(folder, PAGE);
    const page = readPage();
    try {
      mkdirSync(folder, { recursive: true });
      writeAtomic(path, page, 0o644);
    } catch (error) {
      if (isSystemError(error)) throw new CliError(`the page cannot be written: ${error.message}`);
      throw error;
    }
    printLine(context, path);
  },
});

function readPage(): string {
  try {
    return readFileSync(join(assetFolder('playground'), PAGE), 'utf8');
  } catch (error) {
    if (isSystemError(error))
      throw new CliError('the page is part of the package: in a checkout, `npm run build` makes it');
    throw error;
  }
}
