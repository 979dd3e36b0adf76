/** The wording of the questions of `gateway setup`, for the tests that answer them. */
export const ENTER = '\r';

export const ASKS = {
  receive: 'Receive webhooks?',
  reach: 'Who can reach the server?',
  port: 'Port?',
  secret: 'Secret for signatures of senders?',
  keep: 'Keep the current one',
  agent: 'Which program runs prompts?',
  first: 'Create a first route?',
  name: 'Name of the route',
  events: 'Accepted events',
  prompt: 'Prompt, with',
  write: 'Write this?',
} as const;

/** Answers of a first run that creates a route. */
export const FIRST_RUN: readonly (readonly [asked: string, typed: string])[] = [
  [ASKS.receive, ENTER],
  [ASKS.reach, ENTER],
  [ASKS.port, `${'\u007f'.repeat(5)}9123${ENTER}`],
  [ASKS.secret, ENTER],
  [ASKS.agent, ENTER],
  [ASKS.first, 'y'],
  [ASKS.name, `hello${ENTER}`],
  [ASKS.events, `push${ENTER}`],
  [ASKS.prompt, ENTER],
  [ASKS.write, ENTER],
];
