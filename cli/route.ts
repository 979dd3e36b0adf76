/** `hookwright route`: holds the events of a route for a time. */
import { argument, command } from './command-line/command.ts';
import { configOption, pauseOption } from './command-line/options.ts';
import { pauseRoute } from './subscriptions/routes.ts';

/** `hookwright route pause`: lets a route hold its events for a time, or until it is resumed. */
export const routePauseCommand = command({
  summary: 'Hold the events of a route, for a time or until it is resumed',
  details:
    'Its events are still answered 202 and stored, and run in their order when the route goes on; what is under way goes on. Of a job (cron_job), which takes one at a time, one run is held, and its schedule goes on. A direct delivery cannot be held: its sender gets 503 with Retry-After. For all gateways that share the store, also after a restart.',
  examples: [
    ['Until further notice', '$0 route pause alerts'],
    ['For an hour', '$0 route pause alerts --for 1h'],
  ],
  options: { for: pauseOption, config: configOption },
  args: { route: argument('route') },
  run: (context, given) => pauseRoute(given, true, context),
});

/** `hookwright route resume`: ends the pause of a route. */
export const routeResumeCommand = command({
  summary: 'End the pause of a route: what it has held runs now',
  examples: [['Go on', '$0 route resume alerts']],
  options: { config: configOption },
  args: { route: argument('route') },
  run: (context, given) => pauseRoute(given, false, context),
});
