/** What the commands that convert a foreign config share: their flags, and what is printed and written. */
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, UsageError } from '../../../cli/base/errors.ts';
import { printJson, printLine, printNote } from '../../../cli/output/print.ts';
import { newSecret } from '../../../cli/subscriptions/save-entry.ts';
import { displayPath } from '../../../compiler/source/display-path.ts';
import type { SourceText } from '../../../compiler/text/source-text.ts';
import type { Conversion, ConversionRefusal, Tools } from '../compiler/conversion.ts';
import { createCheck } from './check-config.ts';
import { formatReport, reportJson } from './print-report.ts';
import { readForeign, refusalError } from './read-foreign.ts';
import { writeConversion } from './write-conversion.ts';

/** Columns of a report that does not go to a terminal. */
const WIDTH = 80;

const UNWRITTEN = 'Nothing was written: --out <dir> writes the config, its .env and its programs.';

export abstract class ConvertCommand extends Command<CliContext> {
  out = Option.String('--out', { description: '<dir> Write hookwright.yaml and .env into this folder' });
  dryRun = Option.Boolean('--dry-run', false, { description: 'Print the config and the report, write nothing' });
  allowLoss = Option.Boolean('--allow-loss', false, { description: 'Exit with 0 although something is lost' });
  json = Option.Boolean('--json', false, { description: 'Print config and report as JSON' });
  file = Option.String({ name: 'file' });

  protected abstract convert(source: SourceText, tools: Tools): Conversion | ConversionRefusal;

  async execute(): Promise<number> {
    const { context } = this;
    if (this.dryRun && this.out !== undefined)
      throw new UsageError('--dry-run writes nothing, --out says where to write');
    const folder = resolve(context.cwd, this.out ?? '.');
    const source = readForeign(context, this.file);
    const check = await createCheck(context, folder);
    const converted = this.convert(source, { check, newSecret: () => newSecret(context) });
    if ('faults' in converted) throw refusalError(converted, source);
    // In a pipe the config itself is the result.
    const isWritten = this.out !== undefined || (!this.dryRun && context.stdout.isTTY === true);
    const written = isWritten ? writeConversion(context, folder, converted) : [];
    if (this.json) printJson(context, reportJson(converted, written));
    else this.print(converted, source.name, written);
    return this.exitCode(converted);
  }

  private print(conversion: Conversion, file: string, written: readonly string[]): void {
    const { context } = this;
    const width = Math.min(context.stderr.columns ?? WIDTH, 100);
    for (const name of written) printLine(context, name);
    if (written.length === 0) context.stdout.write(conversion.config);
    for (const line of formatReport(conversion, file, width)) printNote(context, line);
    printNote(
      context,
      written.length === 0 ? UNWRITTEN : `Next: ${this.enter()}hookwright lint && hookwright gateway run`,
    );
  }

  private enter(): string {
    const { cwd } = this.context;
    const folder = resolve(cwd, this.out ?? '.');
    return folder === cwd ? '' : `cd ${displayPath(folder, cwd)} && `;
  }

  private exitCode({ entries }: Conversion): number {
    const lost = entries.filter(({ fate }) => fate === 'lost').length;
    if (lost === 0 || this.allowLoss) return 0;
    if (this.json) return 1;
    throw new CliError(
      `${lost} ${lost === 1 ? 'part' : 'parts'} could not be carried over`,
      'accept that: --allow-loss',
    );
  }
}
