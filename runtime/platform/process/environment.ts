/**
 * The allow-list of environment variables for programs that hookwright starts: agents and `gh`. Any other variable may be a
 * secret of this program, of another profile, or of the shell that started it.
 */

import { MACHINE, NETWORK, WINDOWS } from './built/variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const ALLOWED: ReadonlySet<string> = new Set([...MACHINE, ...NETWORK, ...WINDOWS]);

const isAllowed = (name: string): boolean => ALLOWED.has(name) || name.startsWith('LC_');

const NONE: ReadonlySet<string> = new Set();

/** The allowed variables of `env`. @param secret variables to omit because they contain a secret */
export function allowedEnvironment(env: Environment, secret: ReadonlySet<string> = NONE): Record<string, string> {
  const allowed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && isAllowed(name) && !secret.has(name)) allowed[name] = value;
  }
  return allowed;
}
