/** For commands that replace the file of the store: no gateway and no other command uses it meanwhile. */
import { lockHolder } from '../../runtime/store/sqlite/lock-holder.ts';
import { StoreRefused } from '../../runtime/store/store.ts';
import { lockPath, storePath } from '../../runtime/store/store-path.ts';
import type { CliContext } from '../base/context.ts';
import { openHome } from '../base/context.ts';
import { CliError, refusalOf } from '../base/errors.ts';
import { isGatewayThere } from '../gateway/ask-gateway.ts';
import { configuredStore } from './configured-store.ts';

/** @throws CliError when the store is a database @param instead what makes or restores a copy of one */
export async function requireFile(context: CliContext, instead: string): Promise<string> {
  const plan = await configuredStore(context);
  if (plan.kind === 'sqlite') return storePath(context.home);
  throw new CliError('the store is a PostgreSQL database', `use its own tools: ${instead}`);
}

/** @throws CliError when the file is in use, or `replace` refuses */
export async function withLockedStore<T>(context: CliContext, replace: () => T): Promise<T> {
  const path = storePath(context.home);
  if (await isGatewayThere(context))
    throw new CliError(`a gateway serves ${context.home}`, 'stop it first: hookwright gateway stop');
  const { tryLock } = await import('../../runtime/store/sqlite/file-lock.ts');
  openHome(context);
  const lock = tryLock(lockPath(path));
  if (lock === null) {
    const pid = lockHolder(lockPath(path));
    throw new CliError(
      `${path} is in use by ${pid === null ? 'another process' : `the process ${pid}`}`,
      'stop it first',
    );
  }
  try {
    return replace();
  } catch (error) {
    throw error instanceof StoreRefused ? refusalOf(error) : error;
  } finally {
    lock.release();
  }
}
