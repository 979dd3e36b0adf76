/** `hookwright profile show`: everything one profile can reach. */
import { Command, Option } from 'clipanion';
import { createPaint } from '../../../base/paint.ts';
import type { CliContext } from '../../base/context.ts';
import { findName } from '../../command-line/find-name.ts';
import { configOption, jsonOption } from '../../command-line/options.ts';
import { printJson, printLine } from '../../output/print.ts';
import { loadClosures } from '../../profiles/load-closures.ts';
import { formatClosure } from '../../profiles/print-closure.ts';
import { openTable } from '../../subscriptions/open-table.ts';

export class ProfileShowCommand extends Command<CliContext> {
  static override paths = [['profile', 'show']];
  static override usage = Command.Usage({
    description: 'Show everything a profile can reach: routes, targets, credentials, scripts',
    details: 'Credentials are shown as references, never as secrets. What is not listed is out of its reach.',
    examples: [['Before giving it a new sender', '$0 profile show work']],
  });

  name = Option.String({ name: 'profile' });
  config = configOption();
  json = jsonOption();

  async execute(): Promise<number> {
    const { context, name } = this;
    const open = await openTable(context, this.config);
    const closures = loadClosures(context.home, open);
    const closure = findName({
      kind: 'profile',
      name,
      known: closures.map((one) => [one.name, one] as const),
      listedBy: 'hookwright profile list',
      notes: open.table.gateway.multiplex_profiles ? [] : ['profiles are off: set gateway.multiplex_profiles: true'],
    });
    if (this.json) printJson(context, closure);
    else for (const line of formatClosure(closure, createPaint(context.colour.stdout))) printLine(context, line);
    return 0;
  }
}
