/** Loads the skills of a run: texts of the profile that precede the prompt, in the order in which they are listed. */

import { join } from 'node:path';
import { codeOf } from '../../../base/code-of.ts';
import { messageOf } from '../../../base/message-of.ts';
import type { Logger } from '../../platform/log.ts';

/** Reads the text of a regular file; rejects when there is none. */
export type ReadText = (path: string) => Promise<string>;

/** No separators and no leading dot: a skill is a folder directly below `skills`. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/** Returns the texts, each followed by a blank line. An unknown skill is logged and left out. */
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
      if (codeOf(error) === 'ENOENT') log.warn({ skill, path }, 'unknown skill');
      else log.warn({ skill, path, reason: messageOf(error) }, 'skill cannot be read');
    }
  }
  return text;
}
