/** Names and folders of profiles. */
import { join } from 'node:path';

export const DEFAULT_PROFILE = 'default';
export const PROFILE_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/** The folder of a profile; that of `default` is the home folder. */
export function profileHome(home: string, profile: string): string {
  return profile === DEFAULT_PROFILE ? home : join(home, 'profiles', profile);
}
