/** Finds the dispatch that a command names: by its id, or by the beginning of one that no other shares. */
import type { StoredDispatch } from '../../runtime/store/queries.ts';
import type { Store } from '../../runtime/store/store.ts';
import { CliError } from '../base/errors.ts';

export const unknownDispatch = (id: string): CliError =>
  new CliError(`there is no delivery "${id}"`, 'hookwright deliveries list shows the ids');

/** @throws CliError when none or several are meant. */
export async function findDispatch(store: Store, id: string): Promise<StoredDispatch> {
  const found = await store.read({ kind: 'find', id });
  if (found.kind === 'found') return found.dispatch;
  if (found.kind === 'unknown') throw unknownDispatch(id);
  throw new CliError(
    `several deliveries begin with "${id}"`,
    'name more of the id: hookwright deliveries list shows them',
  );
}
