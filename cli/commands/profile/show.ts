/** `hookwright profile show`: everything one profile can reach. */
import { createPaint } from '../../../base/paint.ts';
import { argument, command } from '../../command-line/command.ts';
import { findName } from '../../command-line/find-name.ts';
import { configOption, jsonOption } from '../../command-line/options.ts';
import { printJson, printLine } from '../../output/print.ts';
import { formatClosure, loadClosures } from '../../profiles/closure.ts';
import { openTable } from '../../subscriptions/open-table.ts';

export default command({
  summary: 'Show everything a profile can reach: routes, targets, credentials, scripts',
  details: 'Credentials are shown as references, never as secrets. What is not listed is out of its reach.',
  examples: [['Before giving it a new sender', '$0 profile show work']],
  options: { config: configOption, json: jsonOption },
  args: { name: argument('profile') },
  async run(context, given) {
    const { name } = given;
    const open = await openTable(context, given.config);
    const closures = loadClosures(context.home, open);
    const closure = findName({
      kind: 'profile',
      name,
      known: closures.map((one) => [one.name, one] as const),
      listedBy: 'hookwright profile list',
      notes: open.table.gateway.multiplex_profiles ? [] : ['profiles are off: set gateway.multiplex_profiles: true'],
    });
    if (given.json) printJson(context, closure);
    else for (const line of formatClosure(closure, createPaint(context.colour.stdout))) printLine(context, line);
  },
});
