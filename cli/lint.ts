/**
 * `hookwright lint` prints every diagnostic and writes nothing; `hookwright compile` writes the tables.
 */
import { createPaint } from '../base/paint.ts';
import type { CompileResult } from '../compiler/compile.ts';
import { applyStrict } from '../compiler/diagnostics/diagnostic.ts';
import type { FixedFile } from '../compiler/module.ts';
import { createMachineFacts } from '../compiler/node/machine-facts.ts';
import { nodeFiles } from '../compiler/node/node-files.ts';
import { limitNotes } from '../compiler/print/limit-notes.ts';
import { createLines } from '../compiler/print/lines.ts';
import { DIAGNOSTIC_FORMATS } from '../compiler/print/print.ts';
import { safeText } from '../compiler/print/safe-lines.ts';
import { rulesInForce } from '../compiler/rules/registry.ts';
import type { Files } from '../compiler/source/files.ts';
import { displayPath, overlayFiles } from '../compiler/source/files.ts';
import { writeAtomic } from '../runtime/platform/files.ts';
import type { RouteTable } from '../schemas/generated/types.ts';
import type { CliContext } from './base/context.ts';
import { CliError, UsageError } from './base/errors.ts';
import { loadPart } from './base/module.ts';
import { command, flag, restArguments, text } from './command-line/command.ts';
import { configOption, formatOption, outOption } from './command-line/options.ts';
import type { CompileRequest } from './compile/compile-files.ts';
import { compileRequest, createCompileRequest, requireSame, writeTables } from './compile/compile-files.ts';
import { formatDiff } from './files.ts';
import { formatDiagnostics, noteFilesRead, printLine, printNote } from './output/print.ts';
import { formatClosure, loadClosures } from './profile.ts';

/** `hookwright lint`: prints every diagnostic of the configuration. */
export const lintCommand = command({
  options: {
    config: configOption,
    format: formatOption(DIAGNOSTIC_FORMATS, 'diagnostics'),
    strict: flag('Treat warnings as errors'),
    fix: flag('Apply repairs that are certain and cause no other problem; comments and layout stay'),
    dryRun: flag('With --fix: only show the repairs'),
  },
  args: { files: restArguments('file') },
  async run(context, given) {
    const { format } = given;
    if (given.dryRun && !given.fix) throw new UsageError('--dry-run needs --fix');
    const request = await createCompileRequest(context, { configs: [...(given.config ?? []), ...given.files] });
    const found = compileRequest(request);
    const { diagnostics: all, output } = given.fix ? await repair(context, request, found, given.dryRun) : found;
    const diagnostics = given.strict ? applyStrict(all) : all;
    context.stdout.write(formatDiagnostics(format, diagnostics, context, 'stdout'));
    if (format === 'pretty') {
      noteFilesRead(context, found);
      if (diagnostics.length === 0) printNote(context, 'no problems');
      for (const note of output === null ? [] : limitNotes(output.table)) printNote(context, `note: ${note}`);
      if (output?.table.gateway.multiplex_profiles === true) printClosures(context, request, output.table);
    }
    return diagnostics.some(({ severity }) => severity === 'error' || (given.strict && severity === 'warning')) ? 1 : 0;
  },
});

/** Prints what each profile can reach, so that a wrong binding is seen before a sender uses it. */
function printClosures(context: CliContext, { jobs, modules }: CompileRequest, table: RouteTable): void {
  const scope = { table, facts: createMachineFacts(context, jobs), rules: rulesInForce(modules) };
  const paint = createPaint(context.colour.stdout);
  for (const closure of loadClosures(context.home, scope)) {
    for (const line of formatClosure(closure, paint)) printLine(context, line);
  }
}

/**
 * Repairs the files, or with `dryRun` prints the changes on stderr.
 * @returns the result of compiling the repaired configuration
 */
export async function repair(
  context: CliContext,
  request: CompileRequest,
  found: CompileResult,
  dryRun: boolean,
): Promise<CompileResult> {
  const repairFiles = await loadPart(context.modules, 'repair');
  const { result, files, left } = repairFiles(found, (texts) => compileRequest(request, withTexts(texts)));
  for (const file of files) {
    if (dryRun) show(context, file);
    else write(context, file);
  }
  const lines = createLines();
  for (const { diagnostic, why } of left) {
    const { line, column } = lines.positionOf(diagnostic.source, diagnostic.range.start);
    printNote(context, `${diagnostic.source.name}:${line}:${column}: ${diagnostic.rule} not repaired: ${why}`);
  }
  return dryRun ? found : result;
}

/** The file system with the repaired files. */
const withTexts = (texts: ReadonlyMap<string, FixedFile>): Files =>
  overlayFiles(nodeFiles, new Map([...texts].map(([path, { after }]) => [path, after])));

function show(context: CliContext, { path, name, before, after }: FixedFile): void {
  printNote(context, `${name}:`);
  const shown = [before, after].map((text) => safeText({ path, name, text })) as [string, string];
  for (const line of formatDiff(...shown, createPaint(context.colour.stderr))) printNote(context, line);
}

function write(context: CliContext, { path, name, before, after, fixed }: FixedFile): void {
  requireSame(path, name, before);
  writeAtomic(path, after, nodeFiles.stat(path)?.mode ?? 0o600);
  printNote(context, `${name}: ${fixed.length} repaired`);
}

/** `hookwright compile`: compiles the configuration to `routes.json` and `blueprints.json`. */
export const compileCommand = command({
  options: {
    config: configOption,
    out: outOption,
    format: formatOption(DIAGNOSTIC_FORMATS, 'diagnostics'),
    appScheme: text('scheme', 'URL scheme of application links'),
  },
  args: { files: restArguments('file') },
  async run(context, given) {
    const { format } = given;
    const flags = given.appScheme === undefined ? {} : { app_scheme: given.appScheme };
    const configs = [...(given.config ?? []), ...given.files];
    const result = compileRequest(await createCompileRequest(context, { configs, flags }));
    const { stderr, cwd } = context;
    stderr.write(formatDiagnostics(format, result.diagnostics, context, 'stderr'));
    if (format === 'pretty') noteFilesRead(context, result);
    if (result.output === null) {
      // A format for programs is the only text on its stream.
      if (format !== 'pretty') return 1;
      throw new CliError('not compiled: the configuration has errors');
    }
    const { routes, blueprints } = writeTables(result, result.output, { ...context, cwd, out: given.out });
    printLine(context, displayPath(routes, cwd));
    printLine(context, displayPath(blueprints, cwd));
    return 0;
  },
});
