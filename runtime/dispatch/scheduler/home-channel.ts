/** Finds the target of `deliver: origin` for a job that was not created from a chat: the profile's home channel. */
import type { ProfilePlan } from '../../../schemas/generated/types.ts';

/** Used for a profile without a home channel: the answer is saved, and no message is sent. */
export const LOCAL = 'local';

/**
 * The target whose home channel is used: chats before email, then by name, so that the order in a file does not matter.
 * Null when no enabled target has one.
 */
export function homeTarget({ targets }: Pick<ProfilePlan, 'targets'>): string | null {
  const named = Object.entries(targets).filter(([, { home_channel }]) => home_channel !== null && home_channel !== '');
  const names = named.map(([name]) => name).sort();
  return names.find((name) => name !== 'email') ?? names[0] ?? null;
}
