/** `hookwright convert adnanh`: the hooks of adnanh/webhook as a config of hookwright, with what runs their commands. */
import { Command } from 'clipanion';
import type { SourceText } from '../../../../../compiler/text/source-text.ts';
import { convertAdnanh } from '../../../compiler/adnanh/convert-adnanh.ts';
import type { Conversion, ConversionRefusal, Tools } from '../../../compiler/conversion.ts';
import { ConvertCommand } from '../../convert-command.ts';
import { readHookRunner } from '../../hook-runner.ts';

export class ConvertAdnanhCommand extends ConvertCommand {
  static override paths = [['convert', 'adnanh']];
  static override usage = Command.Usage({
    description: 'Convert the hooks of adnanh/webhook',
    details:
      'Takes a hooks file in JSON or YAML, also one with the template calls getenv, cat and credential. Writes hookwright.yaml and .env into this folder or that of --out, and below the home the programs that run the commands of the hooks with their arguments, variables and files. Reports every key that is not carried over as it was, with its place and what to do about it. In a pipe the config is printed and nothing is written. Secrets move to .env and are never printed. A hook whose rule cannot be carried over is kept with `enabled: false`; one without a secret gets one. Exit code 1 when something is lost. Nothing is overwritten.',
    examples: [
      ['Look at it first', '$0 convert adnanh hooks.json --dry-run'],
      ['Into a folder', '$0 convert adnanh /etc/webhook.conf --out hooks'],
    ],
  });

  protected override convert(source: SourceText, tools: Tools): Conversion | ConversionRefusal {
    return convertAdnanh(source, readHookRunner(), tools);
  }
}
