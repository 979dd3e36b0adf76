/** The lock of a home: one gateway serves it. */
import { accessSync, constants } from 'node:fs';
import { describeDiskError } from '../../runtime/platform/describe-disk-error.ts';
import type { FileLock } from '../../runtime/store/sqlite/file-lock.ts';
import { tryLock } from '../../runtime/store/sqlite/file-lock.ts';
import type { CliContext } from '../base/context.ts';
import { openHome } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { gatewayPid, pathsOf, readGatewayInfo } from '../gateway/ask-gateway.ts';
import { isReadOnly } from './read-only-home.ts';

/** Null: it is read-only, so that no gateway can lock it. @throws CliError when another gateway serves this home. */
export function takeHome(context: CliContext): FileLock | null {
  try {
    accessSync(openHome(context), constants.R_OK | constants.W_OK);
    const lock = tryLock(pathsOf(context).lock);
    if (lock !== null) return lock;
  } catch (error) {
    if (isReadOnly(error)) return null;
    const hint = 'give this user write access to it, or another home: HOOKWRIGHT_HOME=<dir>';
    throw new CliError(`cannot serve ${context.home}: ${describeDiskError(error)}`, hint);
  }
  const pid = gatewayPid(context);
  const note = readGatewayInfo(context);
  const where = note?.pid === pid && note !== null ? ` on ${note.url}` : '';
  const who = pid === null ? '' : `${where} (pid ${pid})`;
  throw new CliError(
    `another gateway already serves ${context.home}${who}`,
    'stop it with: hookwright gateway stop',
    'or give this one a home of its own: HOOKWRIGHT_HOME=<dir>',
  );
}
