/** `hookwright route`: pauses and resumes routes. */
import { argument, command } from './command-line/command.ts';
import { byOption, configOption, pauseOption } from './command-line/options.ts';
import { pauseRoute } from './subscriptions/routes.ts';

/** `hookwright route pause`: pauses a route for a time or until it is resumed. */
export const routePauseCommand = command({
  options: { for: pauseOption, by: byOption, config: configOption },
  args: { route: argument('route') },
  run: (context, given) => pauseRoute(given, true, context),
});

/** `hookwright route resume`: resumes a paused route. */
export const routeResumeCommand = command({
  options: { by: byOption, config: configOption },
  args: { route: argument('route') },
  run: (context, given) => pauseRoute(given, false, context),
});
