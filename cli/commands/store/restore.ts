/** `hookwright store restore <file>`: puts a copy in the place of the store. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { CliError } from '../../base/errors.ts';
import { argument, command } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { printNote } from '../../output/print.ts';
import { requireFile, withLockedStore } from '../../store/replace-store.ts';

export default command({
  summary: 'Put a copy in the place of the store',
  details:
    'For a gateway that is stopped. The copy is checked first; the files of the store are moved aside, their log with them, and kept. What was pending in the copy runs again, and events since then are not known to it.',
  examples: [['What `store backup` made', '$0 store restore /var/backups/hookwright.db']],
  options: { config: configOption },
  args: { file: argument('file') },
  async run(context, given) {
    const path = await requireFile(context, 'pg_restore');
    const from = resolve(context.cwd, given.file);
    if (!existsSync(from)) throw new CliError(`there is no file ${from}`);
    const { restore } = await import('../../../runtime/store/sqlite/backup.ts');
    const aside = await withLockedStore(context, () => restore(path, from, context.clock.now()));
    printNote(context, `restored from ${from}`);
    if (aside !== null) printNote(context, `the files before are kept as ${aside}`);
  },
});
