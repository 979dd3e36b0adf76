/** Knows the folders that sandboxes hide: homes with their contents, temporary folders, and files with secrets. */
import { posix } from 'node:path';
import type { MachineFacts } from '../../../../compiler/views/views.ts';

/** Returns the path normalised, with a final `/`, and `/~` for the user's home. */
export function folderOf(path: string, { home, variable }: MachineFacts): string {
  const known = posix.join(variable('default', 'HOME') || '/', '/');
  const userHome = known === '/' ? '/home/~/' : known;
  const whole = /^~(?:\/|$)/.test(path) ? `${userHome}${path.slice(1)}` : path;
  const folder = posix.join(whole.startsWith('/') ? '/' : home, whole, '/');
  return folder.startsWith(userHome) ? folder.replace(userHome, '/~/') : folder;
}

/** Folders of users' homes on common systems. The user who runs the gateway is unknown here. */
const USER_HOME = /^\/(?:~|root|(?:home|Users)\/[^/]+)\/(.*)$/s;
const HIDDEN =
  /^\/(?:(?:home|Users|var|private)\/)?$|^\/(?:run|tmp|var\/(?:run|tmp)|private\/(?:tmp|var))\/|\/\.env(?:[./]|$)/;

/** @param ownFolders of a program, relative to a home @returns whether the folder is one that sandboxes hide, or contains one */
export function opensHidden(folder: string, home: string, ownFolders: readonly string[]): boolean {
  const [, below] = USER_HOME.exec(folder) ?? [];
  if (ownFolders.some((own) => below?.startsWith(`${own}/`))) return false;
  const gateway = `${home}/`;
  return below !== undefined || HIDDEN.test(folder) || folder.startsWith(gateway) || gateway.startsWith(folder);
}
