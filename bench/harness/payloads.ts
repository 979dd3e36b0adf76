/** The posted bodies: a real pull_request event of a code host, and a small one, signed as the code host signs. */
import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';

export const SECRET = 'bench-secret-of-thirty-two-bytes';

export interface Payload {
  readonly name: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Example {
  readonly name: string;
  readonly examples: readonly unknown[];
}

/** The `opened` pull request of @octokit/webhooks-examples, 21 KB, as its sender serialises it. */
function openedPullRequest(): string {
  const events: unknown = createRequire(import.meta.url)('@octokit/webhooks-examples');
  const example = (events as readonly Example[]).find(({ name }) => name === 'pull_request')?.examples[0];
  return JSON.stringify(example);
}

/** The same fields that the prompt uses, in 300 bytes. */
function smallPullRequest(): string {
  const event = {
    action: 'opened',
    number: 2,
    pull_request: { number: 2, title: 'Update the README', user: { login: 'ann' }, draft: false },
    repository: { full_name: 'ann/hello-world' },
    note: '',
  };
  return JSON.stringify({ ...event, note: '-'.repeat(300 - JSON.stringify(event).length) });
}

/** Headers of a signed request with a unique delivery id. */
export function signedHeaders(body: string, secret = SECRET): Record<string, string> {
  return {
    'content-type': 'application/json',
    'user-agent': 'GitHub-Hookshot/bench',
    'x-github-event': 'pull_request',
    'x-github-delivery': '{id}',
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  };
}

function payload(name: string, body: string): Payload {
  return { name, body, headers: signedHeaders(body) };
}

export const large = payload('21 KB', openedPullRequest());
export const small = payload('300 B', smallPullRequest());

/** The prompt that every server under test renders. */
export const PROMPT = 'Review #{number} in {repository.full_name}: {pull_request.title}';
