/** Loads the skills of a run: texts of the profile that go before the prompt, in the order in which they are listed. */

import { join } from 'node:path';
import { messageOf } from '../../../base/message-of.ts';
import type { Logger } from '../../platform/log.ts';

/** Reads the text of a regular file; rejects when there is none. */
export type ReadText = (path: string) => Promise<string>;

/** No separators and no dots in front: a skill is a folder right below `skills`. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/** The texts, each followed by a blank line; an unknown skill is a log line, the others still apply. */
export async function loadSkills(
  names: readonly string[],
  home: string,
  { readText, log }: { readonly readText: ReadText; readonly log: Logger },
): Promise<string> {
  let text = '';
  for (const skill of names) {
    const path = join(home, 'skills', skill, 'SKILL.md');
    if (!NAME.test(skill)) {
      log.warn({ skill, path }, 'unknown skill');
      continue;
    }
    try {
      text += `${(await readText(path)).trim()}\n\n`;
    } catch (error) {
      const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      const reason = messageOf(error);
      if (missing) log.warn({ skill, path }, 'unknown skill');
      else log.warn({ skill, path, reason }, 'skill cannot be read');
    }
  }
  return text;
}
