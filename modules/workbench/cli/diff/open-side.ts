/** One side of a comparison: a configuration, a compiled table, or what the running gateway serves. */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { readTable } from '../../../../cli/compile/compile-files.ts';
import { askGateway } from '../../../../cli/gateway/ask-gateway.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';
import { openConfig } from '../explain/open-config.ts';

interface Side {
  readonly table: RouteTable;
  /** Its description, for a headline. */
  readonly name: string;
}

/** A YAML config, a routes.json, or a folder that holds one of them. @throws CliError */
export async function openSide(context: CliContext, name: string): Promise<Side> {
  const path = resolve(context.cwd, name);
  if (!existsSync(path)) throw new CliError(`there is no file ${name}`);
  const file = statSync(path).isDirectory() ? inFolder(path) : path;
  if (file.endsWith('.json')) return { table: await readTable(file), name };
  return { table: (await openConfig(context, [file])).table, name };
}

/** @throws CliError when none is running */
export async function openServed(context: CliContext): Promise<Side> {
  const { table, url } = await askGateway(context, 'status', {});
  return { table: await readTable(table.file), name: `what ${url} serves` };
}

/** @throws CliError when there is none, or it has errors */
export async function openHere(context: CliContext, configs: readonly string[] | undefined): Promise<Side> {
  const { table } = await openConfig(context, configs);
  return { table, name: 'the configuration' };
}

function inFolder(folder: string): string {
  const found = ['routes.json', 'build/routes.json', 'hookwright.yaml', 'config.yaml']
    .map((name) => join(folder, name))
    .find((path) => existsSync(path));
  if (found === undefined) throw new CliError(`${folder} holds neither a table nor a configuration`);
  return found;
}
