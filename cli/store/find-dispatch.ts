/** Finds the dispatch that a command names: by its id, or by the beginning of one that no other shares. */
import type { StoredDispatch } from '../../runtime/store/queries.ts';
import type { Store } from '../../runtime/store/store.ts';
import { CliError } from '../base/errors.ts';
import { ambiguousName } from '../command-line/find-name.ts';

export const unknownDispatch = (id: string): CliError =>
  new CliError(`there is no delivery "${id}"`, 'hookwright deliveries list shows the ids');

/** @throws CliError if none or several match */
export async function findDispatch(store: Store, id: string): Promise<StoredDispatch> {
  const found = await store.read({ kind: 'find', id });
  if (found.kind === 'found') return found.dispatch;
  if (found.kind === 'unknown') throw unknownDispatch(id);
  const newest = await store.read({ kind: 'list', filter: { limit: SEARCHED } });
  const candidates = newest.map((each) => each.id).filter((each) => each.startsWith(id));
  throw ambiguousName('delivery', id, candidates, 'hookwright deliveries list');
}

/** Number of the newest deliveries that are searched for candidates. */
const SEARCHED = 1000;
