/**
 * Says whether a control socket is our own, for the client before it connects and the server before it listens.
 *
 * A socket below the temporary folder (homes with long paths) could have been put there by another user: what that user
 * answers would be believed, and what we send would be read. Only who may write to a folder can put a socket
 * into it, so the folder decides.
 */
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ControlError } from './control-error.ts';

/** Windows has no user ids. */
export const ownUid = (): number | null => process.getuid?.() ?? null;

/**
 * Why the folder cannot be trusted to hold our socket; null when it can.
 * `strict`: also when its mode lets others write (the server sets the mode itself).
 */
export function foreignFolder(folder: string, found: Stats, uid: number | null, strict: boolean): string | null {
  if (!found.isDirectory()) return `${folder} is not a folder`;
  if (uid === null) return null;
  if (found.uid !== uid) return `${folder} belongs to another user (uid ${found.uid}; this is ${uid})`;
  return strict && (found.mode & 0o022) !== 0 ? `${folder} may be written to by other users` : null;
}

/** False when there is no socket. @throws ControlError `foreign_socket` when it is not certainly ours. */
export async function isOwnSocket(socket: string, uid: number | null): Promise<boolean> {
  const found = await lookAt(socket);
  if (found === null || !found.isSocket()) return false;
  const folder = dirname(socket);
  const holder = await lookAt(folder);
  if (holder === null) return false;
  const problem = foreignFolder(folder, holder, uid, true);
  if (problem !== null) throw new ControlError('foreign_socket', `${problem}: its socket is not asked`);
  if (uid === null || found.uid === uid) return true;
  throw new ControlError('foreign_socket', `${socket} belongs to another user (uid ${found.uid}; this is ${uid})`);
}

async function lookAt(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    // A folder of another user with mode 0700 does not even let us look.
    if (code === 'EACCES')
      throw new ControlError('foreign_socket', `${path} may not be looked at: is it another user's?`);
    throw error;
  }
}
