/** `hookwright outputs`: the outputs of a run as tools, for programs that a gateway runs. */
import { CliError } from '../../../cli/base/errors.ts';
import { command, optionalArgument } from '../../../cli/command-line/command.ts';

/** `hookwright outputs serve [file]`: serves until stdin ends. */
export const outputsServeCommand = command({
  args: { file: optionalArgument('file') },
  async run(context, given) {
    const file = given.file ?? context.env.HOOKWRIGHT_OUTPUTS_FILE;
    if (file === undefined)
      throw new CliError(
        'HOOKWRIGHT_OUTPUTS_FILE is not set: no route with `outputs` runs this program',
        'let the program of an agent start it, or name the file',
      );
    const { serveOutputs } = await import('../runtime/serve-outputs.ts');
    await serveOutputs(file).catch((error: unknown) => {
      throw new CliError(
        `the outputs of the run cannot be read beside ${file}: ${error instanceof Error ? error.message : error}`,
      );
    });
  },
});
