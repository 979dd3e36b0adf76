/** Where `deliver: origin` goes when the job was not created from a chat: to the profile's home channel. */
import type { ProfilePlan } from '../../../schemas/generated/types.ts';

/** Saved, no message: for a profile without a home channel. */
export const LOCAL = 'local';

/**
 * The target whose home channel is meant: a chat before email, then by name, so that the choice does not depend on the
 * order of a file. Null when no enabled target has one.
 */
export function homeTarget({ targets }: Pick<ProfilePlan, 'targets'>): string | null {
  const named = Object.entries(targets).filter(([, { home_channel }]) => home_channel !== null && home_channel !== '');
  const names = named.map(([name]) => name).sort();
  return names.find((name) => name !== 'email') ?? names[0] ?? null;
}
