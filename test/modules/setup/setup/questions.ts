/** The questions of `gateway setup`, where a test answers them: the one place that a new wording changes. */
export const ENTER = '\r';

export const ASKS = {
  receive: 'Receive webhooks?',
  reach: 'Who may reach the server?',
  port: 'On which port?',
  secret: 'The secret that senders sign with',
  keep: 'Keep the one there is',
  first: 'Make a first route?',
  name: 'Its name',
  events: 'Events it accepts',
  prompt: 'The prompt',
  write: 'Write this?',
} as const;

/** A first run that makes a route. */
export const FIRST_RUN: readonly (readonly [asked: string, typed: string])[] = [
  [ASKS.receive, ENTER],
  [ASKS.reach, ENTER],
  [ASKS.port, `${'\u007f'.repeat(5)}9123${ENTER}`],
  [ASKS.secret, ENTER],
  [ASKS.first, 'y'],
  [ASKS.name, `hello${ENTER}`],
  [ASKS.events, `push${ENTER}`],
  [ASKS.prompt, ENTER],
  [ASKS.write, ENTER],
];
