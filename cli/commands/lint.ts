/** `hookwright lint`: every diagnostic of the configuration; nothing is written. */
import { Command, Option } from 'clipanion';
import { createPaint } from '../../base/paint.ts';
import { applyStrict } from '../../compiler/apply-strict.ts';
import { createMachineFacts } from '../../compiler/node/machine-facts.ts';
import { DIAGNOSTIC_FORMATS } from '../../compiler/print/print.ts';
import { rulesInForce } from '../../compiler/rules/registry.ts';
import type { RouteTable } from '../../schemas/generated/types.ts';
import type { CliContext } from '../base/context.ts';
import { UsageError } from '../base/errors.ts';
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

export class LintCommand extends Command<CliContext> {
  static override paths = [['lint']];
  static override usage = Command.Usage({
    description: 'Check the configuration: every diagnostic, nothing written',
    details:
      'Exits 1 when there are errors, with --strict also when there are warnings; those about what strangers can reach are then printed as errors. It needs none of the secrets. `hookwright rule <id>` explains each rule. With profiles it also prints what each of them can reach.',
    examples: [
      ['Check what is in this folder', '$0 lint'],
      ['Check one file', '$0 lint deploy/hookwright.yaml'],
      ['In a workflow, warnings fail too', '$0 lint --strict --format github'],
      ['Repair what can only mean one thing', '$0 lint --fix'],
      ['For code scanning', '$0 lint --format sarif > hookwright.sarif'],
    ],
  });

  config = configOption();
  format = formatOption(DIAGNOSTIC_FORMATS, 'diagnostics');
  files = Option.Rest({ name: 'file' });
  strict = Option.Boolean('--strict', false, { description: 'Warnings fail too' });

  fix = Option.Boolean('--fix', false, {
    description: 'Repair what can only mean one thing; comments and layout stay',
  });
  dryRun = Option.Boolean('--dry-run', false, { description: 'With --fix: only show the repairs' });

  async execute(): Promise<number> {
    const { format } = this;
    if (this.dryRun && !this.fix) throw new UsageError('--dry-run goes with --fix');
    const request = await createCompileRequest(this.context, { configs: [...(this.config ?? []), ...this.files] });
    const found = compileRequest(request);
    const { diagnostics: all, output } = this.fix ? repair(this.context, request, found, this.dryRun) : found;
    const diagnostics = this.strict ? applyStrict(all) : all;
    this.context.stdout.write(formatDiagnostics(format, diagnostics, this.context, 'stdout'));
    if (format === 'pretty') {
      noteFilesRead(this.context, found);
      noteIgnored(this.context, found);
    }
    if (diagnostics.length === 0 && format === 'pretty') printNote(this.context, 'no problems');
    if (format === 'pretty' && output?.table.gateway.multiplex_profiles === true)
      this.printClosures(request, output.table);
    return diagnostics.some(({ severity }) => this.strict || severity === 'error') ? 1 : 0;
  }

  /** What each profile can reach: shows a wrong binding before a sender finds it. */
  private printClosures({ jobs, modules }: CompileRequest, table: RouteTable): void {
    const { context } = this;
    const scope = { table, facts: createMachineFacts(context, jobs), rules: rulesInForce(modules) };
    const paint = createPaint(context.colour.stdout);
    for (const closure of loadClosures(context.home, scope)) {
      for (const line of formatClosure(closure, paint)) printLine(context, line);
    }
  }
}
