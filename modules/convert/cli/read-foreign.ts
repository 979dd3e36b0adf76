/** Reads the file that is to be converted, and the variables beside it. */
import { dirname, join, resolve } from 'node:path';
import { parseEnvLines } from '../../../base/env-lines.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import { createLines } from '../../../compiler/print/lines.ts';
import { displayPath } from '../../../compiler/source/display-path.ts';
import { readText } from '../../../compiler/source/read-text.ts';
import type { SourceText } from '../../../compiler/text/source-text.ts';
import type { ConversionRefusal } from '../compiler/conversion.ts';

/** @throws CliError when it cannot be read */
export function readForeign({ cwd }: CliContext, file: string): SourceText {
  const path = resolve(cwd, file);
  const name = displayPath(path, cwd);
  const read = readText(nodeFiles, path);
  if (!read.ok) throw new CliError(`${name} ${read.message}`);
  return { path, name, text: read.text };
}

/** The `.env` beside the file; nothing where there is none, or it cannot be read. */
export function readVariables({ path }: SourceText): ReadonlyMap<string, string> {
  const read = readText(nodeFiles, join(dirname(path), '.env'));
  return read.ok ? parseEnvLines(read.text).values : new Map();
}

/** Without the lines of the file, which may hold secrets. */
export function refusalError({ faults }: ConversionRefusal, source: SourceText): CliError {
  const lines = createLines();
  const said = faults.map(({ start, message }) => {
    const { line, column } = lines.positionOf(source, start);
    return `${source.name}:${line}:${column}: ${message}`;
  });
  return new CliError(said.join('\n'), ...faults.flatMap(({ hint }) => hint ?? []));
}
