/** Moves secrets from a foreign config to variables, so that the new config contains none. */
import type { NodePath } from '../../../compiler/diagnostics/problem.ts';
import { placeholderIn } from '../../../compiler/text/placeholder-in.ts';
import type { Draft } from './draft.ts';
import type { KeyReport } from './report.ts';

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
