/** Compiles the configuration, for commands that show what it would do. */
import type { CliContext } from '../../../../cli/base/context.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import { createCompileRequest } from '../../../../cli/compile/compile-files.ts';
import { formatDiagnostics } from '../../../../cli/output/diagnostics.ts';
import { createMachineFacts } from '../../../../compiler/node/machine-facts.ts';
import { rulesInForce } from '../../../../compiler/rules/registry.ts';
import type { MachineFacts } from '../../../../compiler/views/machine-facts.ts';
import type { ViewRule } from '../../../../compiler/views/views.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';

export interface OpenConfig {
  readonly table: RouteTable;
  readonly facts: MachineFacts;
  /** See `rulesInForce`. */
  readonly rules: readonly ViewRule[];
  /** Absolute paths of the files it was made from. */
  readonly files: readonly string[];
}

/** @throws CliError if it has errors; the diagnostics are printed first */
export async function openConfig(context: CliContext, configs: readonly string[] | undefined): Promise<OpenConfig> {
  const { compileRequest } = await import('../../../../cli/compile/compile-files.ts');
  const request = await createCompileRequest(context, { configs });
  const { output, diagnostics, inputs } = compileRequest(request);
  if (output !== null) {
    const facts = createMachineFacts(context, request.jobs);
    return { table: output.table, facts, rules: rulesInForce(request.modules), files: inputs };
  }
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  context.stderr.write(formatDiagnostics('pretty', errors, context, 'stderr'));
  throw new CliError('the configuration has errors', 'hookwright lint shows all of them');
}
