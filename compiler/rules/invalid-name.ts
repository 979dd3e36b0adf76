/** A name that cannot be part of a URL. */
import type { ListedRule } from './support/listed-rule.ts';

export const invalidName = {
  id: 'invalid-name',
  group: 'shape',
  severity: 'error',
  title:
    'The name of a route, job or source contains characters other than lower-case letters, digits, `-` and `_`, or has more than 64 characters.',
  why: "The name is part of the route's URL: it must look the same in a URL, in a log and in a shell.",
  decidedIn: 'schema/key-problems.ts',
} as const satisfies ListedRule;
