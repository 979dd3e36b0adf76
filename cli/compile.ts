/** `hookwright compile`: configuration in, `routes.json` and `blueprints.json` out. */
import { DIAGNOSTIC_FORMATS } from '../compiler/print/print.ts';
import { displayPath } from '../compiler/source/display-path.ts';
import { CliError } from './base/errors.ts';
import { command, restArguments, text } from './command-line/command.ts';
import { configOption, formatOption, outOption } from './command-line/options.ts';
import { compileRequest, createCompileRequest, outFolder, writeTables } from './compile/compile-files.ts';
import { formatDiagnostics, noteFilesRead, noteIgnored } from './output/diagnostics.ts';
import { printLine } from './output/print.ts';

export const compileCommand = command({
  summary: 'Compile the configuration to build/routes.json and build/blueprints.json',
  details:
    'Reads ./hookwright.yaml, or config.yaml in the home folder. The tables go to build/ beside the root file; the same input gives the same bytes. Secrets may be missing: only `serve` needs them. With errors nothing is written.',
  examples: [
    ['Compile what is in this folder', '$0 compile'],
    ['In CI, with annotations', '$0 compile --config deploy/hookwright.yaml --out dist --format github'],
  ],
  options: {
    config: configOption,
    out: outOption,
    format: formatOption(DIAGNOSTIC_FORMATS, 'diagnostics'),
    appScheme: text('scheme', 'URL scheme of application links'),
  },
  args: { files: restArguments('file') },
  async run(context, given) {
    const { format } = given;
    const flags = given.appScheme === undefined ? {} : { app_scheme: given.appScheme };
    const configs = [...(given.config ?? []), ...given.files];
    const result = compileRequest(await createCompileRequest(context, { configs, flags }));
    const { stderr, cwd } = context;
    stderr.write(formatDiagnostics(format, result.diagnostics, context, 'stderr'));
    if (format === 'pretty') {
      noteFilesRead(context, result);
      noteIgnored(context, result);
    }
    if (result.output === null) {
      // A machine format is the only thing on its stream.
      if (format !== 'pretty') return 1;
      throw new CliError('not compiled: the configuration has errors');
    }
    const { routes, blueprints } = writeTables(outFolder(result, cwd, given.out), result.output);
    printLine(context, displayPath(routes, cwd));
    printLine(context, displayPath(blueprints, cwd));
    return 0;
  },
});
