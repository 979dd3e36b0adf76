/** `hookwright convert`: configs of other programs. */
import { command } from '../../../cli/command-line/command.ts';
import { convertAdnanh } from '../compiler/adnanh/convert-adnanh.ts';
import { convertHermes } from '../compiler/hermes/convert-hermes.ts';
import { convertArgs, convertFile, convertOptions, readHookRunner, readVariables } from './convert-file.ts';

/** `hookwright convert hermes`: the webhook routes of Hermes Agent as a config of hookwright. */
export const convertHermesCommand = command({
  summary: 'Convert the webhook routes of a Hermes Agent config',
  details:
    'Writes hookwright.yaml and .env into this folder or that of --out, and reports every key that is not carried over as it was, with its place and what to do about it. In a pipe the config is printed and nothing is written. Secrets move to .env, with the values of the .env beside the file, and are never printed. A route whose checks cannot be carried over is kept with `enabled: false`. Exit code 1 when something is lost. Nothing is overwritten.',
  examples: [
    ['Look at it first', '$0 convert hermes ~/.hermes/config.yaml --dry-run'],
    ['Into a folder', '$0 convert hermes ~/.hermes/config.yaml --out hooks'],
    ['Its subscriptions', '$0 convert hermes ~/.hermes/webhook_subscriptions.json --out subscriptions'],
  ],
  options: convertOptions,
  args: convertArgs,
  run: (context, given) =>
    convertFile(context, given, (source, tools) => convertHermes(source, readVariables(source), tools)),
});

/** `hookwright convert adnanh`: the hooks of adnanh/webhook as a config of hookwright, with what runs their commands. */
export const convertAdnanhCommand = command({
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
