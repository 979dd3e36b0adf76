/** A file that cannot be read. */
import type { Rule } from '../diagnostics/rule.ts';

export const unreadableFile = {
  id: 'unreadable-file',
  severity: 'error',
  title: 'A config file is missing, a directory, too large or not UTF-8.',
  why: 'What it would say is unknown, so nothing can be said about the config as a whole.',
} as const satisfies Rule;
