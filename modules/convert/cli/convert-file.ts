/** What the commands that convert a foreign config share: their flags, and what is printed and written. */
import { resolve } from 'node:path';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, UsageError } from '../../../cli/base/errors.ts';
import type { GivenBy } from '../../../cli/command-line/command.ts';
import { argument, flag, text } from '../../../cli/command-line/command.ts';
import { printJson, printLine, printNote } from '../../../cli/output/print.ts';
import { newSecret } from '../../../cli/subscriptions/save-entry.ts';
import { displayPath } from '../../../compiler/source/display-path.ts';
import type { SourceText } from '../../../compiler/text/source-text.ts';
import type { Conversion, ConversionRefusal, Tools } from '../compiler/conversion.ts';
import { formatReport, reportJson } from './print-report.ts';
import { readForeign, refusalError } from './read-foreign.ts';
import { createCheck, writeConversion } from './write-conversion.ts';

/** Columns of a report that does not go to a terminal. */
const WIDTH = 80;

const UNWRITTEN = 'Nothing was written: --out <dir> writes the config, its .env and its programs.';

export const convertOptions = {
  out: text('dir', 'Write hookwright.yaml and .env into this folder'),
  dryRun: flag('Print the config and the report, write nothing'),
  allowLoss: flag('Exit with 0 although something is lost'),
  json: flag('Print config and report as JSON'),
};
export const convertArgs = { file: argument('file') };

type Given = GivenBy<typeof convertOptions> & GivenBy<typeof convertArgs>;

/** Runs such a command. @returns its exit code @throws CliError when something is lost */
export async function convertFile(
  context: CliContext,
  given: Given,
  convert: (source: SourceText, tools: Tools) => Conversion | ConversionRefusal,
): Promise<number> {
  if (given.dryRun && given.out !== undefined)
    throw new UsageError('--dry-run writes nothing, --out says where to write');
  const folder = resolve(context.cwd, given.out ?? '.');
  const source = readForeign(context, given.file);
  const check = await createCheck(context, folder);
  const converted = convert(source, { check, newSecret: () => newSecret(context) });
  if ('faults' in converted) throw refusalError(converted, source);
  // In a pipe the config itself is the result.
  const isWritten = given.out !== undefined || (!given.dryRun && context.stdout.isTTY === true);
  const written = isWritten ? writeConversion(context, folder, converted) : [];
  if (given.json) printJson(context, reportJson(converted, written));
  else {
    const width = Math.min(context.stderr.columns ?? WIDTH, 100);
    for (const name of written) printLine(context, name);
    if (written.length === 0) context.stdout.write(converted.config);
    for (const line of formatReport(converted, source.name, width)) printNote(context, line);
    const enter = folder === context.cwd ? '' : `cd ${displayPath(folder, context.cwd)} && `;
    printNote(context, written.length === 0 ? UNWRITTEN : `Next: ${enter}hookwright lint && hookwright gateway run`);
  }
  return exitCode(converted, given);
}

function exitCode({ entries }: Conversion, given: Given): number {
  const lost = entries.filter(({ fate }) => fate === 'lost').length;
  if (lost === 0 || given.allowLoss) return 0;
  if (given.json) return 1;
  throw new CliError(`${lost} ${lost === 1 ? 'part' : 'parts'} could not be carried over`, 'accept that: --allow-loss');
}
