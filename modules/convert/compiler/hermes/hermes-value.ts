/** Reads values of a Hermes Agent config. Variables, which the original expands, become references. */
import type { Draft, Settings } from '../draft.ts';
import type { SecretPlace } from '../foreign-value.ts';
import { asMap, moveSecret } from '../foreign-value.ts';

/** Its value for a secret that disables the check. */
export const INSECURE = 'INSECURE_NO_AUTH';

export interface Hermes {
  readonly draft: Draft;
  /** The whole config. */
  readonly config: Settings;
  /** Variables from the `.env` next to it. */
  readonly env: ReadonlyMap<string, string>;
}

export const mapAt = (value: unknown, ...path: readonly string[]): Settings =>
  path.reduce<Settings>((at, key) => asMap(at[key]), asMap(value));

/** Returns a reference to the secret, or null if there is none. */
export function secretFrom(hermes: Hermes, value: unknown, place: SecretPlace): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value).trim();
  if (text === '') return null;
  const named = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(text)?.[1];
  if (named === undefined) return moveSecret(hermes.draft, text, place);
  place.report.carried(place.path);
  return variableFrom(hermes, named);
}

/** Returns a reference to a variable, and copies the variable's value if the `.env` defines it. */
export function variableFrom({ draft, env }: Hermes, name: string): string {
  draft.variables.set(name, env.get(name) ?? null);
  return `env:${name}`;
}
