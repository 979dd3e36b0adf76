/** Text that is not YAML. */
import type { ListedRule } from './support/listed-rule.ts';

export const yamlSyntax = {
  id: 'yaml-syntax',
  group: 'reading',
  severity: 'error',
  title: 'A file cannot be parsed.',
  why: 'The meaning of the text after the error is unknown.',
  decidedIn: 'source/parse-yaml.ts',
} as const satisfies ListedRule;
