/** Text that is not YAML. */
import type { Rule } from '../diagnostics/rule.ts';

export const yamlSyntax = {
  id: 'yaml-syntax',
  severity: 'error',
  title: 'A file cannot be parsed.',
  why: 'Whatever follows the error could mean anything.',
  decidedIn: 'source/parse-yaml.ts',
} as const satisfies Rule;
