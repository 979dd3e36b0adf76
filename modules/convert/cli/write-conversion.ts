/** Checks a conversion as `lint` would, and writes it: the config, its `.env`, and programs below the home. What is there already stays. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnvLines } from '../../../base/env-lines.ts';
import { isSystemError } from '../../../base/system-error.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError } from '../../../cli/base/errors.ts';
import { compileRequest, createCompileRequest } from '../../../cli/compile/compile-files.ts';
import { setEnvLines } from '../../../cli/files/env-file.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import { displayPath } from '../../../compiler/source/display-path.ts';
import { overlayFiles } from '../../../compiler/source/overlay-files.ts';
import { describeDiskError } from '../../../runtime/platform/describe-disk-error.ts';
import { writeAtomic } from '../../../runtime/platform/write-atomic.ts';
import type { Conversion, Tools } from '../compiler/conversion.ts';

interface PlannedFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** The names of the files that were written. @throws CliError before anything is written, or when the disk does not take it */
export function writeConversion(context: CliContext, folder: string, conversion: Conversion): readonly string[] {
  const { cwd } = context;
  const files = [
    { path: join(folder, CONFIG), text: conversion.config, mode: 0o644 },
    ...planPrograms(context, conversion),
  ];
  for (const { path, text } of files) refuseOther(path, text, cwd);
  const planned = [...files, ...planEnv(join(folder, '.env'), conversion, cwd)];
  try {
    for (const { path, text, mode } of planned) writeAtomic(path, text, mode);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new CliError(`cannot write to ${displayPath(folder, cwd)}: ${describeDiskError(error)}`);
  }
  return planned.map(({ path }) => displayPath(path, cwd));
}

const planPrograms = ({ home }: CliContext, { programs }: Conversion): readonly PlannedFile[] =>
  [...programs].map(([name, text]) => ({ path: join(home, name), text, mode: 0o600 }));

/** The same conversion may be made again for its programs, never for its config. */
function refuseOther(path: string, text: string, cwd: string): void {
  const isConfig = path.endsWith(CONFIG);
  if (!existsSync(path) || (!isConfig && readFileSync(path, 'utf8') === text)) return;
  throw new CliError(
    `${displayPath(path, cwd)} is there already; nothing was written`,
    isConfig ? 'write elsewhere: --out <dir>, or look at it: --dry-run' : 'take another home: HOOKWRIGHT_HOME=<dir>',
  );
}

const HEADER = '# Read by hookwright, beside hookwright.yaml. Keep it out of version control.\n';

/** Adds what is not set; a variable with another value is left alone. */
function planEnv(path: string, { variables }: Conversion, cwd: string): readonly PlannedFile[] {
  if (variables.size === 0) return [];
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const { values } = parseEnvLines(before);
  const other = [...variables].find(([name, value]) => value !== null && (values.get(name) ?? value) !== value);
  if (other !== undefined)
    throw new CliError(
      `${displayPath(path, cwd)} sets ${other[0]} to another value; nothing was written`,
      'write elsewhere: --out <dir>',
    );
  const known = [...variables].filter((entry): entry is [string, string] => entry[1] !== null && !values.has(entry[0]));
  const open = [...variables].filter(([name, value]) => value === null && !values.has(name));
  if (known.length === 0 && open.length === 0) return [];
  const text = setEnvLines(before === '' ? HEADER : before, Object.fromEntries(known));
  const blanks = open.map(([name]) => `# ${name}=\n`).filter((line) => !text.includes(line));
  return [{ path, text: `${text}${blanks.join('')}`, mode: 0o600 }];
}

export const CONFIG = 'hookwright.yaml';

export async function createCheck(context: CliContext, folder: string): Promise<Tools['check']> {
  const path = join(folder, CONFIG);
  const request = await createCompileRequest(context, { configs: [path] });
  return (config) => {
    const { diagnostics } = compileRequest(request, overlayFiles(nodeFiles, new Map([[path, config]])));
    const own = diagnostics.filter(({ source }) => source.path === path);
    return own.map(({ rule, severity, range, message }) => ({ rule, severity, start: range.start, message }));
  };
}
