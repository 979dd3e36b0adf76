/** The store that the configuration names: where a command finds it when no gateway serves this home. */
import { existsSync } from 'node:fs';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { searchConfig } from '../../compiler/source/search-config.ts';
import type { Store } from '../../runtime/store/store.ts';
import { storePath } from '../../runtime/store/store-path.ts';
import type { StorePlan } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import type { DatabaseContext, PostgresPlan } from '../base/module.ts';
import { loadPart } from '../base/module.ts';

/** The configuration does not lead to a store: it cannot be read, or the URL of the database is not set. */
export class UnknownStore extends CliError {}

/** The store cannot be opened now: its medium is full, read-only or failing, or the database is away or refuses. */
export class StoreOutOfReach extends CliError {}

/** What is needed to open the store that the configuration names. */
export type OpeningContext = DatabaseContext & Pick<CliContext, 'modules'>;

/** @param configs default: those of the command line @throws UnknownStore when the configuration cannot be read */
export async function configuredStore(
  context: CliContext,
  configs: readonly string[] = context.configs ?? [],
): Promise<StorePlan> {
  // A home without a configuration has no parser to wait for.
  if (configs.length === 0 && searchConfig(nodeFiles, context).root === null) return { kind: 'sqlite' };
  const { readStorePlan } = await import('../../compiler/source/read-store-plan.ts');
  const plan = readStorePlan({ files: nodeFiles, cwd: context.cwd, home: context.home, configs });
  if (plan !== null) return plan;
  if (existsSync(storePath(context.home))) return { kind: 'sqlite' };
  throw new UnknownStore(
    'the configuration does not say where the store is: it has errors',
    'hookwright lint shows them',
  );
}

/**
 * The database, opened as a client: it takes no work. Null: there are no tables in it, and none are to be made.
 * @throws StoreOutOfReach when it cannot be reached, or cannot be used; UnknownStore
 */
export async function openDatabase(
  context: OpeningContext,
  plan: PostgresPlan,
  opening: { readonly create: boolean },
): Promise<Store | null> {
  return (await loadPart(context.modules, 'database')).open(context, plan, opening);
}
