/** Moves secrets from a foreign config to variables, so that the new config contains none. */
import type { NodePath } from '../../../compiler/diagnostics/problem.ts';
import { placeholderIn } from '../../../compiler/text/placeholder-in.ts';
import type { Draft } from './draft.ts';

export interface FoundSecret {
  readonly text: string;
  /** Its path in the foreign file. */
  readonly path: NodePath;
  readonly route: string | null;
  /** The variable to move it to. */
  readonly variable: string;
}

/** Returns a reference to the secret. A placeholder such as `changeme` is not copied; its variable is left empty. */
export function moveSecret(draft: Draft, { text, path, route, variable }: FoundSecret): string {
  const name = freeVariable(draft, variable, text);
  const isPlaceholder = placeholderIn(text) !== null;
  draft.variables.set(name, isPlaceholder ? null : text);
  if (isPlaceholder)
    draft.report.changed({
      path,
      route,
      reason: 'this is a placeholder that anyone can guess',
      instead: `Set ${name} in .env to the secret that the sender has`,
    });
  else draft.report.carried(path, route);
  return `env:${name}`;
}

/** A variable name that no other secret uses. */
function freeVariable({ variables }: Draft, variable: string, text: string): string {
  let name = variable;
  for (let number = 2; variables.has(name) && variables.get(name) !== text; number++) name = `${variable}_${number}`;
  return name;
}
