/** `hookwright lint`: every diagnostic of the configuration; nothing is written. */
import { createPaint } from '../../base/paint.ts';
import { applyStrict } from '../../compiler/diagnostics/diagnostic.ts';
import { createMachineFacts } from '../../compiler/node/machine-facts.ts';
import { DIAGNOSTIC_FORMATS } from '../../compiler/print/print.ts';
import { rulesInForce } from '../../compiler/rules/registry.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { UsageError } from '../base/errors.ts';
import { command, flag, restArguments } from '../command-line/command.ts';
import { configOption, formatOption } from '../command-line/options.ts';
import type { CompileRequest } from '../compile/compile-files.ts';
import { compileRequest } from '../compile/compile-files.ts';
import { createCompileRequest } from '../compile/compile-request.ts';
import { repair } from '../lint/repair.ts';
import { formatDiagnostics } from '../output/diagnostics.ts';
import { noteFilesRead, noteIgnored } from '../output/files-read.ts';
import { printLine, printNote } from '../output/print.ts';
import { loadClosures } from '../profiles/load-closures.ts';
import { formatClosure } from '../profiles/print-closure.ts';

export default command({
  summary: 'Check the configuration: every diagnostic, nothing written',
  details:
    'Exits 1 when there are errors, with --strict also when there are warnings; those about what strangers can reach are then printed as errors. It needs none of the secrets. `hookwright rule <id>` explains each rule. With profiles it also prints what each of them can reach.',
  examples: [
    ['Check what is in this folder', '$0 lint'],
    ['Check one file', '$0 lint deploy/hookwright.yaml'],
    ['In a workflow, warnings fail too', '$0 lint --strict --format github'],
    ['Repair what can only mean one thing', '$0 lint --fix'],
    ['For code scanning', '$0 lint --format sarif > hookwright.sarif'],
  ],
  options: {
    config: configOption,
    format: formatOption(DIAGNOSTIC_FORMATS, 'diagnostics'),
    strict: flag('Warnings fail too'),
    fix: flag('Repair what can only mean one thing; comments and layout stay'),
    dryRun: flag('With --fix: only show the repairs'),
  },
  args: {
    files: restArguments('file'),
  },
  async run(context, given) {
    const { format } = given;
    if (given.dryRun && !given.fix) throw new UsageError('--dry-run goes with --fix');
    const request = await createCompileRequest(context, { configs: [...(given.config ?? []), ...given.files] });
    const found = compileRequest(request);
    const { diagnostics: all, output } = given.fix ? repair(context, request, found, given.dryRun) : found;
    const diagnostics = given.strict ? applyStrict(all) : all;
    context.stdout.write(formatDiagnostics(format, diagnostics, context, 'stdout'));
    if (format === 'pretty') {
      noteFilesRead(context, found);
      noteIgnored(context, found);
    }
    if (diagnostics.length === 0 && format === 'pretty') printNote(context, 'no problems');
    if (format === 'pretty' && output?.table.gateway.multiplex_profiles === true)
      printClosures(context, request, output.table);
    return diagnostics.some(({ severity }) => given.strict || severity === 'error') ? 1 : 0;
  },
});

/** What each profile can reach: shows a wrong binding before a sender finds it. */
function printClosures(context: CliContext, { jobs, modules }: CompileRequest, table: RouteTable): void {
  const scope = { table, facts: createMachineFacts(context, jobs), rules: rulesInForce(modules) };
  const paint = createPaint(context.colour.stdout);
  for (const closure of loadClosures(context.home, scope)) {
    for (const line of formatClosure(closure, paint)) printLine(context, line);
  }
}
