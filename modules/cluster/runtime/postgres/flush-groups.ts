/** Makes the dispatches of all groups due. */
import type { FlushGroups } from '../../../../runtime/store/mutations.ts';
import type { Scope } from './scope.ts';

export async function flushGroups({ db }: Scope, { now }: FlushGroups): Promise<null> {
  await db.change("UPDATE work SET due_at = $1, set_at = $1 WHERE group_key IS NOT NULL AND state = 'pending'", [now]);
  return null;
}
