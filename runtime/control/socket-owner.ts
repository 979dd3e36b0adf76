/**
 * Checks that a control socket belongs to this user, before the client connects and before the server listens.
 *
 * Another user could create a socket below the temporary folder (used for homes with long paths), read requests and forge
 * answers. Creating a socket requires write access to its folder, so the folder's owner and mode decide.
 */

import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codeOf } from '../../base/errors.ts';
import { ControlError } from './control-error.ts';

/** The user id; null on Windows, which has none. */
export const ownUid = (): number | null => process.getuid?.() ?? null;

/**
 * Returns why the folder cannot be trusted to hold our socket; null if it can.
 * @param strict also check that others cannot write to it; the server sets the mode itself
 */
export function foreignFolder(folder: string, stats: Stats, uid: number | null, strict: boolean): string | null {
  if (!stats.isDirectory()) return `${folder} is not a folder`;
  if (uid === null) return null;
  if (stats.uid !== uid) return `${folder} belongs to another user (uid ${stats.uid}; this is ${uid})`;
  return strict && (stats.mode & 0o022) !== 0 ? `${folder} is writable by other users` : null;
}

/**
 * Resolves to false if there is no socket. Rejects with ControlError `foreign_socket` unless it certainly belongs to this user.
 */
export async function isOwnSocket(socket: string, uid: number | null): Promise<boolean> {
  const stats = await statsOf(socket);
  if (stats === null || !stats.isSocket()) return false;
  const folder = dirname(socket);
  const holder = await statsOf(folder);
  if (holder === null) return false;
  const problem = foreignFolder(folder, holder, uid, true);
  if (problem !== null) throw new ControlError('foreign_socket', `${problem}: the control socket there is not used`);
  if (uid === null || stats.uid === uid) return true;
  throw new ControlError('foreign_socket', `${socket} belongs to another user (uid ${stats.uid}; this is ${uid})`);
}

async function statsOf(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    // The folder of another user has mode 0700.
    if (code === 'EACCES')
      throw new ControlError('foreign_socket', `cannot inspect ${path}: it may belong to another user`);
    throw error;
  }
}
