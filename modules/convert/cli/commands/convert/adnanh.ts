/** `hookwright convert adnanh`: the hooks of adnanh/webhook as a config of hookwright, with what runs their commands. */
import { command } from '../../../../../cli/command-line/command.ts';
import { convertAdnanh } from '../../../compiler/adnanh/convert-adnanh.ts';
import { convertArgs, convertFile, convertOptions } from '../../convert-file.ts';
import { readHookRunner } from '../../hook-runner.ts';

export default command({
  summary: 'Convert the hooks of adnanh/webhook',
  details:
    'Takes a hooks file in JSON or YAML, also one with the template calls getenv, cat and credential. Writes hookwright.yaml and .env into this folder or that of --out, and below the home the programs that run the commands of the hooks with their arguments, variables and files. Reports every key that is not carried over as it was, with its place and what to do about it. In a pipe the config is printed and nothing is written. Secrets move to .env and are never printed. A hook whose rule cannot be carried over is kept with `enabled: false`; one without a secret gets one. Exit code 1 when something is lost. Nothing is overwritten.',
  examples: [
    ['Look at it first', '$0 convert adnanh hooks.json --dry-run'],
    ['Into a folder', '$0 convert adnanh /etc/webhook.conf --out hooks'],
  ],
  options: convertOptions,
  args: convertArgs,
  run: (context, given) =>
    convertFile(context, given, (source, tools) => convertAdnanh(source, readHookRunner(), tools)),
});
