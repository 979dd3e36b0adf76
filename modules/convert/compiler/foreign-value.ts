/** Reads values of a foreign config, whose types are unknown, and moves its secrets to variables. */

import type { NodePath } from '../../../compiler/diagnostics/diagnostic.ts';
import { placeholderIn } from '../../../compiler/text/placeholders.ts';
import { isPlainMap } from '../../../compiler/text/plain-data.ts';
import type { KeyReport } from './conversion.ts';
import type { Draft, Settings } from './draft.ts';

/** Reads values of a foreign config, whose types are unknown. */
export const asMap = (value: unknown): Settings => (isPlainMap(value) ? (value as Settings) : {});

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Moves secrets from a foreign config to variables, so that the new config contains none. */
export interface SecretPlace {
  /** Its path in the foreign file. */
  readonly path: NodePath;
  readonly report: KeyReport;
  /** The variable to move it to. */
  readonly variable: string;
}

/** Returns a reference to the secret. A placeholder such as `changeme` is not copied; its variable is left empty. */
export function moveSecret({ variables }: Draft, text: string, { path, report, variable }: SecretPlace): string {
  // No other secret may have the name.
  let name = variable;
  for (let number = 2; variables.has(name) && variables.get(name) !== text; number++) name = `${variable}_${number}`;
  const isPlaceholder = placeholderIn(text) !== null;
  variables.set(name, isPlaceholder ? null : text);
  const instead = `Set ${name} in .env to the secret that the sender has`;
  if (isPlaceholder) report.changed(path, 'this is a placeholder that anyone can guess', instead);
  else report.carried(path);
  return `env:${name}`;
}
