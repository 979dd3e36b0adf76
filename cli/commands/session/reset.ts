/** `hookwright session reset`: the next run of an agent's session is told nothing of what was said there. */
import { resetSession } from '../../../runtime/store/said.ts';
import { CliError } from '../../base/errors.ts';
import { argument, command, text } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { printLine, visible } from '../../output/print.ts';
import { sessionProfile } from '../../sessions/open-chat.ts';
import { useStore } from '../../store/use-store.ts';

export default command({
  summary: "Begin an agent's session anew: later runs are told nothing of what was said there",
  details:
    'For agents that are told what was said (`agent.openai`). A program keeps its own conversations, under the session id that it is given. What was accepted stays stored, and runs that wait still run.',
  examples: [['Forget a pull request', '$0 session reset webhook:review:acme/shop%2342']],
  options: { profile: text('profile', 'Whose session; default: `default`'), config: configOption },
  args: { session: argument('session id') },
  async run(context, given) {
    const of = { profile: sessionProfile(context, given.profile), session: given.session };
    const known = await useStore(context, (store) => resetSession(store, of, context.clock.now()));
    if (known !== true) {
      throw new CliError(
        `nothing was said in a session "${given.session}", and no run waits there`,
        'hookwright session list shows the busy ones',
      );
    }
    printLine(context, `${visible(given.session)} begins anew`);
  },
});
