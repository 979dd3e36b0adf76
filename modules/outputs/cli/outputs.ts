/** `hookwright outputs`: the outputs of a run as tools, for programs that a gateway runs. */
import { codeOf, messageOf } from '../../../base/errors.ts';
import { CliError } from '../../../cli/base/errors.ts';
import { command, optionalArgument } from '../../../cli/command-line/command.ts';

/** `hookwright outputs serve [file]`: serves until stdin ends. */
export const outputsServeCommand = command({
  args: { file: optionalArgument('file') },
  async run(context, given) {
    const file = given.file ?? context.env.HOOKWRIGHT_OUTPUTS_FILE;
    if (file === undefined)
      throw new CliError(
        'HOOKWRIGHT_OUTPUTS_FILE is not set: the program of an agent, for a route with `outputs`, starts this',
      );
    const { serveOutputs } = await import('../runtime/serve-outputs.ts');
    await serveOutputs(file).catch((error: unknown) => {
      throw new CliError(`the outputs beside ${file} cannot be read (${codeOf(error) ?? messageOf(error)})`);
    });
  },
});
