/** Links the people who may use the console: their names, roles and tokens. A table takes them away with the next one. */
import type { ConsolePlan, SecretRef } from '../../schemas/generated/types.ts';
import type { SecretResolver } from '../platform/secrets.ts';
import { tryRead } from '../platform/secrets.ts';

/** A person at the console. */
export interface Person {
  /** Viewers have read-only access. */
  readonly role: 'operator' | 'viewer';
  /** Null: whoever has `token` or `viewer_token`, or nobody needs a token. */
  readonly name: string | null;
}

export interface Credential extends Person {
  readonly token: string;
}

interface TokenPlan extends Person {
  /** Path in the configuration. */
  readonly where: string;
  readonly ref: SecretRef;
}

/** The tokens of a console. */
export function consoleTokens(plan: ConsolePlan | null): readonly TokenPlan[] {
  const { token, viewer_token, users = {} } = plan ?? {};
  const all: readonly (readonly [key: string, Person, SecretRef | null | undefined])[] = [
    ['token', { role: 'operator', name: null }, token],
    ['viewer_token', { role: 'viewer', name: null }, viewer_token],
    ...Object.entries(users).map(
      ([name, { token: ref, role }]) => [`users.${name}.token`, { role, name }, ref] as const,
    ),
  ];
  return all.flatMap(([key, person, ref]) => (ref ? [{ where: `gateway.console.${key}`, ...person, ref }] : []));
}

/** @param problems gets a line for each token that cannot be used */
export function linkPeople(plan: ConsolePlan | null, secrets: SecretResolver, problems: string[]): Credential[] {
  const known = new Map<string, string>();
  return consoleTokens(plan).flatMap(({ where, ref, role, name }) => {
    const unread: string[] = [];
    const token = tryRead(() => secrets.resolve(ref), unread);
    problems.push(...unread.map((problem) => `${where}: ${problem}`));
    const same = known.get(token ?? '');
    if (same !== undefined)
      problems.push(`${where}: the same as \`${same}\`; each person and role needs another token`);
    if (token === null) return [];
    known.set(token, where.replace('gateway.console.', ''));
    return [{ role, name, token }];
  });
}
