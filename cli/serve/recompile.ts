/** Recompiles tables and subscriptions for a serving gateway. */

import type { CompileResult } from '../../compiler/compile.ts';
import { createMachineFacts } from '../../compiler/node/machine-facts.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { describeErrors } from '../../compiler/print/print.ts';
import { printPretty } from '../../compiler/print/print-pretty.ts';
import { compileSubscriptions } from '../../compiler/stages/compile-subscriptions.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import type { CompileSubscriptions } from '../../runtime/service/options.ts';
import type { FailOn, RefusedSwap } from '../../schemas/built/operations/types.ts';
import type { CliContext } from '../base/context.ts';
import type { Module } from '../base/module.ts';
import { loadPart } from '../base/module.ts';
import type { CompileRequest } from '../compile/compile-files.ts';
import { compileRequest, outFolder, writeTables } from '../compile/compile-files.ts';
import { loadCompilerParts, loadRules } from '../compile/compiler-parts.ts';

/** The messages of a recompile: the request to the thread and its report. */
export interface RecompileRequest extends Omit<CompileRequest, 'modules'> {
  readonly out: string | undefined;
  readonly color: boolean;
  readonly width: number;
  /** The differences in the results of captured requests that reject a table. */
  readonly failOn: readonly FailOn[];
}

export interface RecompileReport extends Pick<CompileResult, 'inputs' | 'root' | 'files' | 'ignored'> {
  readonly ok: boolean;
  /** Whether the written table differs from the previous one. */
  readonly changed: boolean;
  /** The printed diagnostics; empty if there are none. */
  readonly diagnostics: string;
  /** The number of errors, and the first one with its position; null if there are none. */
  readonly problem: string | null;
  /** The folder of the tables. */
  readonly folder: string;
  /** Why the gate rejected the tables, which were not written; null if it did not. */
  readonly refused: RefusedSwap | null;
  /** Whether the gate has checked the table. */
  readonly gated: boolean;
}

/** Compiles, and writes the tables if there are no errors and `failOn` does not reject them. */
export async function recompile(
  request: RecompileRequest,
  modules: readonly Module<CliContext>[],
): Promise<RecompileReport> {
  const result = compileRequest({ ...request, modules: await loadCompilerParts(modules) });
  if (result.output === null || request.failOn.length === 0) return finish(request, result, null);
  // Loaded on demand: few gateways have a gate.
  const passGate = await loadPart(modules, 'gate');
  const folder = outFolder(result, request.cwd, request.out);
  const gate = { ...request, clock: systemClock, modules };
  return finish(request, result, await passGate(gate, request.failOn, folder, result.output.table));
}

function finish(request: RecompileRequest, result: CompileResult, refused: RefusedSwap | null): RecompileReport {
  const folder = outFolder(result, request.cwd, request.out);
  const { diagnostics, inputs, root, files, ignored } = result;
  const problem = isEmpty(root) ? `${root} is empty` : describeErrors(diagnostics);
  const written =
    result.output === null || problem !== null || refused !== null ? null : writeTables(result, result.output, request);
  // Hints are for those who edit the configuration: `lint` prints them.
  const shown = diagnostics.filter(({ severity }) => severity !== 'hint');
  return {
    ok: written !== null && problem === null,
    changed: written?.changed ?? false,
    diagnostics: printPretty(shown, { color: request.color, width: request.width }),
    problem,
    inputs,
    root,
    files,
    ignored,
    folder,
    refused,
    gated: request.failOn.length > 0,
  };
}

/** A program that writes a file may have emptied it first. Without a file there are defaults. */
const isEmpty = (root: string | null): boolean => root !== null && nodeFiles.stat(root)?.size === 0;

/** Loads the rules of all modules. */
export async function subscriptionLowerer(context: CliContext): Promise<CompileSubscriptions> {
  const rules = await loadRules(context.modules);
  return (text, table, jobs) => compileSubscriptions(text, { table, facts: createMachineFacts(context, jobs), rules });
}
