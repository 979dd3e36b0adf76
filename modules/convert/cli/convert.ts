/** `hookwright convert`: converts configs of other programs. */
import { command } from '../../../cli/command-line/command.ts';
import { convertAdnanh } from '../compiler/adnanh/convert-adnanh.ts';
import { convertHermes } from '../compiler/hermes/convert-hermes.ts';
import { convertArgs, convertFile, convertOptions, readHookRunner, readVariables } from './convert-file.ts';

/** `hookwright convert hermes`: the webhook routes of Hermes Agent as a config of hookwright. */
export const convertHermesCommand = command({
  options: convertOptions,
  args: convertArgs,
  run: (context, given) =>
    convertFile(context, given, (source, tools) => convertHermes(source, readVariables(source), tools)),
});

/** `hookwright convert adnanh`: the hooks of adnanh/webhook as a config of hookwright, with the program that runs their commands. */
export const convertAdnanhCommand = command({
  options: convertOptions,
  args: convertArgs,
  run: (context, given) =>
    convertFile(context, given, (source, tools) => convertAdnanh(source, readHookRunner(), tools)),
});
