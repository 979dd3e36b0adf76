/** `hookwright store backup`, `store restore` and `store new`. */
import { existsSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { CliContext } from '../../../cli/base/context.ts';
import { openHome } from '../../../cli/base/context.ts';
import { CliError, refusalOf } from '../../../cli/base/errors.ts';
import { argument, command, flag } from '../../../cli/command-line/command.ts';
import { configOption } from '../../../cli/command-line/options.ts';
import { isGatewayRunning, tryCallGateway } from '../../../cli/gateway/ask-gateway.ts';
import { printJson, printNote } from '../../../cli/output/print.ts';
import { canPrompt, createPrompter } from '../../../cli/output/prompter.ts';
import { configuredStore, useStore } from '../../../cli/store/use-store.ts';
import { StoreRefused } from '../../../runtime/store/contract.ts';
import { lockHolder, lockPath, notePath, storePath } from '../../../runtime/store/store-path.ts';

/** Timeout of a copy, in ms; a second copies some hundred megabytes. */
const COPY_MS = 600_000;

/** `hookwright store backup <file>`: copies the whole store, even while a gateway writes it. */
export const storeBackupCommand = command({
  options: { config: configOption, json: flag('Print the path and the size in bytes as JSON') },
  args: { file: argument('file') },
  async run(context, given) {
    const path = await requireFile(context, 'pg_dump');
    const to = resolve(context.cwd, given.file);
    if (existsSync(to)) throw new CliError(`${to} already exists`, 'a backup never replaces a file: use another name');
    if (!existsSync(dirname(to))) throw new CliError(`there is no folder ${dirname(to)}`, 'create it first');
    const copied = await useStore(context, async () => {
      const { copyStore } = await import('../runtime/rescue.ts');
      // Without a gateway, this command opens the store itself.
      return (await tryCallGateway(context, 'store_back_up', { to }, COPY_MS)) ?? copyStore(path, to);
    });
    if (copied === null) throw new CliError(`there is no store in ${context.home} yet`);
    if (given.json) printJson(context, { file: to, ...copied });
    else printNote(context, `copied to ${to} (${copied.bytes} bytes) and checked`);
  },
});

/** `hookwright store restore <file>`: replaces the store with a copy. */
export const storeRestoreCommand = command({
  options: { config: configOption },
  args: { file: argument('file') },
  async run(context, given) {
    const path = await requireFile(context, 'pg_restore');
    const from = resolve(context.cwd, given.file);
    if (!existsSync(from)) throw new CliError(`${from} does not exist`);
    const { restore } = await import('../runtime/backup.ts');
    const aside = await withLockedStore(context, () => restore(path, from, context.clock.now()));
    printNote(context, `restored from ${from}`);
    if (aside !== null) printNote(context, `the previous files were moved to ${aside}`);
  },
});

/** `hookwright store new`: starts with an empty store. */
export const storeNewCommand = command({
  options: { config: configOption, yes: flag('Do not ask for confirmation') },
  async run(context, given) {
    const path = await requireFile(context, 'createdb');
    const question = `Start with an empty store in ${context.home}? Pending work will not run.`;
    if (!given.yes && !canPrompt(context))
      throw new CliError('cannot ask for confirmation without a terminal', 'add --yes to start with an empty store');
    if (!given.yes && !(await createPrompter(context).confirm(question, false)))
      throw new CliError('cancelled; nothing was changed');
    const { moveAside } = await import('../runtime/backup.ts');
    const forget = (): void => rmSync(notePath(path), { force: true });
    const aside = await withLockedStore(context, () => moveAside(path, context.clock.now(), forget));
    printNote(context, aside === null ? 'there was no store' : `the files of the old store were moved to ${aside}`);
    printNote(context, 'the next start creates an empty store');
  },
});

/** @throws CliError when the store is a database @param instead the tools that copy or restore a database */
async function requireFile(context: CliContext, instead: string): Promise<string> {
  const plan = await configuredStore(context);
  if (plan.kind === 'sqlite') return storePath(context.home);
  throw new CliError('the store is a PostgreSQL database', `use its own tools: ${instead}`);
}

/** @throws CliError when the file is in use, or `replace` fails */
async function withLockedStore<T>(context: CliContext, replace: () => T): Promise<T> {
  const path = storePath(context.home);
  if (await isGatewayRunning(context))
    throw new CliError(`a gateway serves ${context.home}`, 'stop it first: hookwright gateway stop');
  const { tryLock } = await import('../../../runtime/store/sqlite/file-lock.ts');
  openHome(context);
  const lock = tryLock(lockPath(path));
  if (lock === null) {
    const pid = lockHolder(lockPath(path));
    throw new CliError(`${path} is in use by ${pid === null ? 'another process' : `process ${pid}`}`, 'stop it first');
  }
  try {
    return replace();
  } catch (error) {
    throw error instanceof StoreRefused ? refusalOf(error) : error;
  } finally {
    lock.release();
  }
}
