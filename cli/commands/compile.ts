/** `hookwright compile`: configuration in, `routes.json` and `blueprints.json` out. */
import { Command, Option } from 'clipanion';
import { DIAGNOSTIC_FORMATS } from '../../compiler/print/print.ts';
import { displayPath } from '../../compiler/source/display-path.ts';
import type { CliContext } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import { configOption, formatOption, outOption } from '../command-line/options.ts';
import { compileRequest, outFolder, writeTables } from '../compile/compile-files.ts';
import { createCompileRequest } from '../compile/compile-request.ts';
import { formatDiagnostics } from '../output/diagnostics.ts';
import { noteFilesRead, noteIgnored } from '../output/files-read.ts';
import { printLine } from '../output/print.ts';

export class CompileCommand extends Command<CliContext> {
  static override paths = [['compile']];
  static override usage = Command.Usage({
    description: 'Compile the configuration to build/routes.json and build/blueprints.json',
    details:
      'Reads ./hookwright.yaml, or config.yaml in the home folder. The tables go to build/ beside the root file; the same input gives the same bytes. Secrets may be missing: only `serve` needs them. With errors nothing is written.',
    examples: [
      ['Compile what is in this folder', '$0 compile'],
      ['In CI, with annotations', '$0 compile --config deploy/hookwright.yaml --out dist --format github'],
    ],
  });

  config = configOption();
  files = Option.Rest({ name: 'file' });
  out = outOption();
  format = formatOption(DIAGNOSTIC_FORMATS, 'diagnostics');
  appScheme = Option.String('--app-scheme', { description: '<scheme> URL scheme of application links' });

  async execute(): Promise<number> {
    const { format } = this;
    const flags = this.appScheme === undefined ? {} : { app_scheme: this.appScheme };
    const configs = [...(this.config ?? []), ...this.files];
    const result = compileRequest(await createCompileRequest(this.context, { configs, flags }));
    const { stderr, cwd } = this.context;
    stderr.write(formatDiagnostics(format, result.diagnostics, this.context, 'stderr'));
    if (format === 'pretty') {
      noteFilesRead(this.context, result);
      noteIgnored(this.context, result);
    }
    if (result.output === null) {
      // A machine format is the only thing on its stream.
      if (format !== 'pretty') return 1;
      throw new CliError('not compiled: the configuration has errors');
    }
    const { routes, blueprints } = writeTables(outFolder(result, cwd, this.out), result.output);
    printLine(this.context, displayPath(routes, cwd));
    printLine(this.context, displayPath(blueprints, cwd));
    return 0;
  }
}
