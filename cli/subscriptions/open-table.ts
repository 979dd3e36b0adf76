/**
 * The table that a command about routes works against: that of the running gateway, because it is the one that will
 * serve; without one, the configuration compiled on the spot.
 */
import { readFileSync } from 'node:fs';
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts';
import { createMachineFacts } from '../../compiler/node/machine-facts.ts';
import { rulesInForce } from '../../compiler/rules/registry.ts';
import type { MachineFacts } from '../../compiler/views/machine-facts.ts';
import type { ViewRule } from '../../compiler/views/views.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { compileRequest, createCompileRequest } from '../compile/compile-files.ts';
import { loadRules } from '../compile/compiler-parts.ts';
import { tryAskGateway } from '../gateway/ask-gateway.ts';
import { formatDiagnostics } from '../output/diagnostics.ts';
import { readJobsToCompile } from '../store/stored-jobs.ts';
import { refreshCopy } from '../store/use-shared-state.ts';

export interface OpenTable {
  readonly table: RouteTable;
  readonly facts: MachineFacts;
  /** See `rulesInForce`. */
  readonly rules: readonly ViewRule[];
  /** Where a gateway listens for this home; null when none is running. */
  readonly url: string | null;
  /** The configs that it was compiled from; undefined: those that are looked for. */
  readonly configs?: readonly string[] | undefined;
}

/** @throws CliError when there is no table; the diagnostics are printed before. */
export async function openTable(context: CliContext, configs: readonly string[] | undefined): Promise<OpenTable> {
  const { open, diagnostics } = await findTable(context, configs);
  if (open !== null) return open;
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  context.stderr.write(formatDiagnostics('pretty', errors, context, 'stderr'));
  throw new CliError('the configuration has errors', 'correct it first: hookwright lint');
}

/** Null if there is none; for commands that do not need it. */
export async function tryOpenTable(
  context: CliContext,
  configs: readonly string[] | undefined,
): Promise<OpenTable | null> {
  return (await findTable(context, configs)).open;
}

interface Found {
  readonly open: OpenTable | null;
  readonly diagnostics: readonly Diagnostic[];
}

async function findTable(context: CliContext, configs: readonly string[] | undefined): Promise<Found> {
  await refreshCopy(context, configs);
  const status = await tryAskGateway(context, 'status', {});
  const url = status?.url ?? null;
  if (status !== null && configs === undefined) {
    const table = JSON.parse(readFileSync(status.table.file, 'utf8')) as RouteTable;
    const facts = createMachineFacts(context, await readJobsToCompile(context, undefined));
    const rules = await loadRules(context.modules);
    const served = status.config === null ? undefined : [status.config];
    return { open: { table, facts, rules, url, configs: served }, diagnostics: [] };
  }
  const request = await createCompileRequest(context, { configs });
  const facts = createMachineFacts(context, request.jobs);
  const { output, diagnostics } = compileRequest(request);
  const rules = rulesInForce(request.modules);
  return { open: output === null ? null : { table: output.table, facts, rules, url, configs }, diagnostics };
}
