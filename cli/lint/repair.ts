/** `lint --fix`: writes the repairs that are certain, as long as each of them removes its diagnostic. */

import { createPaint } from '../../base/paint.ts';
import type { CompileResult } from '../../compiler/compile.ts';
import type { FixedFile } from '../../compiler/diagnostics/apply-fixes.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { safeText } from '../../compiler/print/safe-lines.ts';
import { repairRounds } from '../../compiler/repair/repair-rounds.ts';
import type { Files } from '../../compiler/source/files.ts';
import { writeAtomic } from '../../runtime/platform/write-atomic.ts';
import type { CliContext } from '../base/context.ts';
import type { CompileRequest } from '../compile/compile-files.ts';
import { compileRequest } from '../compile/compile-files.ts';
import { formatDiff } from '../output/diff.ts';
import { printNote } from '../output/print.ts';

/**
 * Repairs the files, or (`dryRun`) prints what it would change, on stderr.
 * @returns what the configuration compiles to afterwards
 */
export function repair(
  context: CliContext,
  request: CompileRequest,
  found: CompileResult,
  dryRun: boolean,
): CompileResult {
  const { result, files } = repairRounds(found, (texts) => compileRequest(request, withTexts(texts)));
  for (const file of files) {
    if (dryRun) show(context, file);
    else write(context, file);
  }
  return dryRun ? found : result;
}

function withTexts(texts: ReadonlyMap<string, FixedFile>): Files {
  const encoder = new TextEncoder();
  return {
    ...nodeFiles,
    read: (path) => {
      const file = texts.get(path);
      return file === undefined ? nodeFiles.read(path) : encoder.encode(file.after);
    },
  };
}

function show(context: CliContext, { path, name, before, after }: FixedFile): void {
  printNote(context, `${name}:`);
  const shown = [before, after].map((text) => safeText({ path, name, text })) as [string, string];
  for (const line of formatDiff(...shown, createPaint(context.colour.stderr))) printNote(context, line);
}

function write(context: CliContext, { path, name, after, fixed }: FixedFile): void {
  writeAtomic(path, after, nodeFiles.stat(path)?.mode ?? 0o600);
  printNote(context, `${name}: ${fixed.length} repaired`);
}
