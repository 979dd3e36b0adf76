/** `hookwright store new`: begins anew where the store is gone, or is to go. */
import { rmSync } from 'node:fs';
import { CliError } from '../../base/errors.ts';
import { command, flag } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { printNote } from '../../output/print.ts';
import { canAsk, createPrompter } from '../../output/prompter.ts';
import { requireFile, withLockedStore } from '../../store/replace-store.ts';

export default command({
  summary: 'Begin with an empty store',
  details:
    'For a gateway that is stopped, whose store is gone and of which there is no copy. What is left of it is moved aside and kept. Nothing that was pending runs, and ids that were seen are not known: a sender that sends an event again is believed. Asks first; where there is no terminal it refuses without --yes.',
  examples: [['Without a question', '$0 store new --yes']],
  options: { config: configOption, yes: flag('Do not ask') },
  async run(context, given) {
    const path = await requireFile(context, 'createdb');
    const question = `Begin with an empty store in ${context.home}? What was pending does not run.`;
    if (!given.yes && !canAsk(context)) throw new CliError('there is no terminal to ask on', 'add --yes to begin anew');
    if (!given.yes && !(await createPrompter(context).confirm(question, false)))
      throw new CliError('given up; nothing was changed');
    const [{ moveAside }, { notePath }] = await Promise.all([
      import('../../../runtime/store/sqlite/backup.ts'),
      import('../../../runtime/store/store-path.ts'),
    ]);
    const forget = (): void => rmSync(notePath(path), { force: true });
    const aside = await withLockedStore(context, () => moveAside(path, context.clock.now(), forget));
    printNote(context, aside === null ? 'there was none' : `what was left is kept as ${aside}`);
    printNote(context, 'the next start begins with an empty store');
  },
});
