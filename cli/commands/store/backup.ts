/** `hookwright store backup <file>`: a whole copy of the store, also while a gateway writes it. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CliError } from '../../base/errors.ts';
import { argument, command, flag } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { printJson, printNote } from '../../output/print.ts';
import { requireFile } from '../../store/replace-store.ts';
import { useStore } from '../../store/use-store.ts';

export default command({
  summary: 'Copy the store to a file, also while a gateway runs',
  details:
    'The copy is of one instant, whole without a log beside it, checked after it was written, and readable by you alone: it holds prompts and answers. A file is never replaced. Kept requests are not in it. A PostgreSQL database has its own tools.',
  examples: [['Before an upgrade', '$0 store backup /var/backups/hookwright.db']],
  options: { config: configOption, json: flag('Print the path and the size in bytes') },
  args: { file: argument('file') },
  async run(context, given) {
    await requireFile(context, 'pg_dump');
    const to = resolve(context.cwd, given.file);
    if (existsSync(to)) throw new CliError(`${to} is there already`, 'a backup replaces no file: name another one');
    if (!existsSync(dirname(to))) throw new CliError(`there is no folder ${dirname(to)}`, 'make it first');
    const copied = await useStore(context, (store) => store.read({ kind: 'back_up', to }));
    if (copied === null) throw new CliError(`nothing is stored in ${context.home} yet`);
    if (given.json) printJson(context, { file: to, ...copied });
    else printNote(context, `copied to ${to} (${copied.bytes} bytes) and checked`);
  },
});
