/** Shared by the commands that convert a foreign config: flags, reports and written files. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isSystemError } from '../../../base/errors.ts';
import { parseEnvLines } from '../../../base/files.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, UsageError } from '../../../cli/base/errors.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { argument, flag, text } from '../../../cli/command-line/command.ts';
import { compileRequest, createCompileRequest } from '../../../cli/compile/compile-files.ts';
import { refuseLinks } from '../../../cli/compile/refuse-links.ts';
import { setEnvLines } from '../../../cli/files.ts';
import { printJson, printLine, printNote, visible } from '../../../cli/output/print.ts';
import { newSecret } from '../../../cli/subscriptions/save-entry.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import { createLines } from '../../../compiler/print/lines.ts';
import { displayPath, overlayFiles, readText } from '../../../compiler/source/files.ts';
import type { SourceText } from '../../../compiler/text/source-text.ts';
import { describeDiskError, writeAtomic } from '../../../runtime/platform/files.ts';
import type { Conversion, ConversionRefusal, ConvertedRoute, Entry, Fate, Tools } from '../compiler/conversion.ts';
import { wrap } from '../compiler/draft.ts';

/** Columns of a report that does not go to a terminal. */
const WIDTH = 80;

const UNWRITTEN = 'Nothing was written. --out <dir> writes the config, its .env and its programs.';

export const convertOptions = {
  out: text('dir', 'Write hookwright.yaml and .env into this folder'),
  dryRun: flag('Print the config and the report without writing files'),
  allowLoss: flag('Exit with 0 even if something is lost'),
  json: flag('Print config and report as JSON'),
};
export const convertArgs = { file: argument('file') };

type ConvertFlags = ValuesOf<typeof convertOptions> & ValuesOf<typeof convertArgs>;

/** Runs a conversion command. @returns its exit code @throws CliError if something is lost */
export async function convertFile(
  context: CliContext,
  given: ConvertFlags,
  convert: (source: SourceText, tools: Tools) => Conversion | ConversionRefusal,
): Promise<number> {
  if (given.dryRun && given.out !== undefined) throw new UsageError('--dry-run and --out exclude each other');
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

function exitCode({ entries }: Conversion, given: ConvertFlags): number {
  const lost = entries.filter(({ fate }) => fate === 'lost').length;
  if (lost === 0 || given.allowLoss) return 0;
  if (given.json) return 1;
  throw new CliError(`${lost} ${lost === 1 ? 'part' : 'parts'} could not be converted`, 'to accept this: --allow-loss');
}

/** @param file name of the foreign file */
function formatReport({ entries, routes, notes, variables }: Conversion, file: string, width: number): string[] {
  const reportedEntries = entries.filter(({ fate }) => fate !== 'carried');
  const missing = [...variables].flatMap(([name, value]) => (value === null ? [name] : []));
  return [
    ...reportedEntries.flatMap((entry) => [...formatEntry(entry, { routes, file, width }), '']),
    ...notes.flatMap((note) => wrap(`note: ${note}`, width)),
    ...(notes.length === 0 ? [] : ['']),
    ...formatRoutes(routes),
    '',
    ...(missing.length === 0 ? [] : wrap(`Fill in .env: ${missing.join(', ')}`, width)),
    summary(entries),
  ];
}

interface Layout {
  readonly routes: readonly ConvertedRoute[];
  readonly file: string;
  readonly width: number;
}

function formatEntry(
  { fate, path, place, route: name, reason, instead }: Entry,
  { routes, file, width }: Layout,
): string[] {
  const route = routes.find((candidate) => candidate.name === name);
  const key = path
    .slice(route?.path.length ?? 0)
    .map((part) => (path.length === 1 && typeof part === 'number' ? `hook number ${part + 1}` : part))
    .join('.');
  const what = [key, ...(route === undefined ? [] : [route.from])].filter((text) => text !== '').join(', ');
  const lines = [reason, instead].filter((text) => text !== '');
  return [
    `${file}:${place.line}:${place.column}: ${fate}: ${visible(what)}`,
    ...lines.flatMap((text) => wrap(visible(text), width - 3).map((line) => `   ${line}`)),
  ];
}

function formatRoutes(routes: readonly ConvertedRoute[]): string[] {
  const longest = Math.max(...routes.map(({ name }) => name.length));
  return routes.map(({ name, open }) => {
    const state = open ? '' : '  closed: enabled: false';
    return `/webhooks/${state === '' ? name : name.padEnd(longest)}${state}`;
  });
}

function summary(entries: readonly Entry[]): string {
  const count = (fate: Fate): number => entries.filter((entry) => entry.fate === fate).length;
  return `${count('carried')} keys carried over, ${count('changed')} changed, ${count('lost')} lost`;
}

/** Names of variables, never their values. */
function reportJson({ config, entries, routes, notes, variables }: Conversion, written: readonly string[]): unknown {
  return {
    routes: routes.map(({ path, ...route }) => ({ ...route, path: path.join('.') })),
    entries: entries.map(({ path, place, ...entry }) => ({ path: path.join('.'), ...place, ...entry })),
    variables: [...variables].map(([name, value]) => ({ name, known: value !== null })),
    notes,
    written,
    config,
  };
}

/** @throws CliError if it cannot be read */
function readForeign({ cwd }: CliContext, file: string): SourceText {
  const path = resolve(cwd, file);
  const name = displayPath(path, cwd);
  const read = readText(nodeFiles, path);
  if (!read.ok) throw new CliError(`${name} ${read.message}`);
  return { path, name, text: read.text };
}

/** The `.env` next to the file; empty if it is missing or unreadable. */
export function readVariables({ path }: SourceText): ReadonlyMap<string, string> {
  const read = readText(nodeFiles, join(dirname(path), '.env'));
  return read.ok ? parseEnvLines(read.text).values : new Map();
}

/** Omits lines of the file, which may contain secrets. */
function refusalError({ faults }: ConversionRefusal, source: SourceText): CliError {
  const lines = createLines();
  const [first = '', ...others] = faults.map(({ start, message }) => {
    const { line, column } = lines.positionOf(source, start);
    return `${source.name}:${line}:${column}: ${message}`;
  });
  return new CliError(first, ...others, ...faults.flatMap(({ hint }) => hint ?? []));
}

interface PlannedFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

/** Returns the names of the written files. @throws CliError before anything is written, or if the disk fails */
function writeConversion(context: CliContext, folder: string, conversion: Conversion): readonly string[] {
  const { cwd } = context;
  const files = [
    { path: join(folder, CONFIG), text: conversion.config, mode: 0o644 },
    ...planPrograms(context, conversion),
  ];
  refuseLinks([join(folder, CONFIG), join(folder, '.env')], [folder], 'write elsewhere: --out <dir>');
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

/** Repeating a conversion may replace its programs, but never its config. */
function refuseOther(path: string, text: string, cwd: string): void {
  const isConfig = path.endsWith(CONFIG);
  if (!existsSync(path) || (!isConfig && readFileSync(path, 'utf8') === text)) return;
  throw new CliError(
    `${displayPath(path, cwd)} already exists; nothing was written`,
    isConfig
      ? 'write elsewhere: --out <dir>, or only print the result: --dry-run'
      : 'use another home: HOOKWRIGHT_HOME=<dir>',
  );
}

const HEADER = '# Read by hookwright, next to hookwright.yaml. Keep it out of version control.\n';

/** Adds missing variables; never changes a variable with another value. */
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

const CONFIG = 'hookwright.yaml';

async function createCheck(context: CliContext, folder: string): Promise<Tools['check']> {
  const path = join(folder, CONFIG);
  const request = await createCompileRequest(context, { configs: [path] });
  return (config) => {
    const { diagnostics } = compileRequest(request, overlayFiles(nodeFiles, new Map([[path, config]])));
    const own = diagnostics.filter(({ source }) => source.path === path);
    return own.map(({ rule, severity, range, message }) => ({ rule, severity, start: range.start, message }));
  };
}

/** Reads the program that converted hooks use to run their commands. */
export const readHookRunner = (): string => readFileSync(new URL('./run-hook.mjs', import.meta.url), 'utf8');
