/** A name that cannot be a part of a URL. */
import type { ListedRule } from './support/listed-rule.ts';

export const invalidName = {
  id: 'invalid-name',
  group: 'shape',
  severity: 'error',
  title:
    'The name of a route, job or source has other characters than lower-case letters, digits, `-` and `_`, or more than 64.',
  why: 'A route is reached under its name: it must look the same in a URL, in a log and in a shell.',
  decidedIn: 'schema/explain.ts',
} as const satisfies ListedRule;
