/** `hookwright route resume`: ends the pause of a route. */
import { argument, command } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { pauseRoute } from '../../subscriptions/pause-route.ts';

export default command({
  summary: 'End the pause of a route: what it has held runs now',
  examples: [['Go on', '$0 route resume alerts']],
  options: { config: configOption },
  args: { route: argument('route') },
  run: (context, given) => pauseRoute(given, false, context),
});
