/** Moves a secret from a foreign config to a variable, so that no secret stands in the config that is written. */
import type { NodePath } from '../diagnostics/problem.ts';
import { placeholderIn } from '../text/placeholder-in.ts';
import type { Draft } from './draft.ts';

export interface FoundSecret {
  readonly text: string;
  /** Where the foreign file has it. */
  readonly path: NodePath;
  readonly route: string | null;
  /** The variable that is to hold it. */
  readonly variable: string;
}

/** The reference that stands for it. A placeholder that anybody could guess is left to be filled in. */
export function moveSecret(draft: Draft, { text, path, route, variable }: FoundSecret): string {
  const name = freeVariable(draft, variable, text);
  const standIn = placeholderIn(text) !== null;
  draft.variables.set(name, standIn ? null : text);
  if (standIn)
    draft.report.changed({
      path,
      route,
      reason: 'this only stands for a secret, and anybody can guess it',
      instead: `Set ${name} in .env to the secret that the sender has`,
    });
  else draft.report.carried(path, route);
  return `env:${name}`;
}

/** Two secrets whose variables would have one name get two. */
function freeVariable({ variables }: Draft, variable: string, text: string): string {
  let name = variable;
  for (let number = 2; variables.has(name) && variables.get(name) !== text; number++) name = `${variable}_${number}`;
  return name;
}
