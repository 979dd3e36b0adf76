/** `lint --fix`: writes the repairs that are certain, as long as they leave fewer diagnostics than there were. */
import type { CompileResult } from '../../compiler/compile.ts';
import type { FixedFile } from '../../compiler/diagnostics/apply-fixes.ts';
import { applyFixes } from '../../compiler/diagnostics/apply-fixes.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import type { Files } from '../../compiler/source/files.ts';
import { writeAtomic } from '../../runtime/platform/write-atomic.ts';
import type { CompileRequest } from '../compose/compile-files.ts';
import { compileRequest } from '../compose/compile-files.ts';
import type { CliContext } from '../context.ts';
import { createPaint } from '../output/colour.ts';
import { formatDiff } from '../output/diff.ts';
import { printNote } from '../output/print.ts';

/** A repair may uncover what it hid; more rounds than this never help. */
const MOST_ROUNDS = 5;

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
  const texts = new Map<string, FixedFile>();
  let result = found;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const fixed = applyFixes(result.diagnostics);
    if (fixed.length === 0) break;
    const next = new Map([...texts, ...fixed.map((file) => [file.path, merged(texts.get(file.path), file)] as const)]);
    const after = compileRequest(request, withTexts(next));
    if (after.diagnostics.length >= result.diagnostics.length) break;
    for (const [path, file] of next) texts.set(path, file);
    result = after;
  }
  for (const file of texts.values()) {
    if (dryRun) show(context, file);
    else write(context, file);
  }
  return dryRun ? found : result;
}

/** Rounds of one file count as one change. */
const merged = (before: FixedFile | undefined, file: FixedFile): FixedFile =>
  before === undefined ? file : { ...file, before: before.before, fixed: [...before.fixed, ...file.fixed] };

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

function show(context: CliContext, { name, before, after }: FixedFile): void {
  printNote(context, `${name}:`);
  for (const line of formatDiff(before, after, createPaint(context.colour.stderr))) printNote(context, line);
}

function write(context: CliContext, { path, name, after, fixed }: FixedFile): void {
  writeAtomic(path, after, nodeFiles.stat(path)?.mode ?? 0o600);
  printNote(context, `${name}: ${fixed.length} repaired`);
}
