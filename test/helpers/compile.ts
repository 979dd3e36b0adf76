/** Compiles configs in memory, against the shipped catalog, for tests. */
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CompileInput, CompileResult } from '../../compiler/compile.ts';
import { compile } from '../../compiler/compile.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { printPretty } from '../../compiler/print/print-pretty.ts';
import { rulesInForce } from '../../compiler/rules/registry.ts';
import { loadShippedCatalog } from '../../compiler/source/load-catalog.ts';
import { agentsCompiler } from '../../modules/agents/compiler/part.ts';
import { blueprintCompiler } from '../../modules/blueprints/compiler/publish.ts';
import { RULE_FILES as codehostsRules } from '../../modules/codehosts/compiler/rules/built/rule-files.ts';
import { RULE_FILES as consoleRules } from '../../modules/console/compiler/rules/built/rule-files.ts';
import { RULE_FILES as guardRules } from '../../modules/guard/compiler/rules/built/rule-files.ts';
import { outputsCompiler } from '../../modules/outputs/compiler/part.ts';
import { compilerPart } from '../../modules/payloads/compiler/part.ts';
import { RULE_FILES as sandboxRules } from '../../modules/sandbox/compiler/rules/built/rule-files.ts';
import { tutorCompiler } from '../../modules/tutor/compiler/tutor.ts';
import type { MemoryFile } from './memory-files.ts';
import { memoryFiles } from './memory-files.ts';
import type { Example } from './rule-examples.ts';
import { ROOT_FILE } from './rule-examples.ts';

export const PROJECT = '/project';
export const HOME = '/home/user/.hookwright';

export const CATALOG = loadShippedCatalog(nodeFiles, fileURLToPath(new URL('../../catalog', import.meta.url)));

/** The parts of the compiler that the program's modules add. */
export const MODULES = [
  agentsCompiler,
  blueprintCompiler,
  { rules: codehostsRules },
  { rules: consoleRules },
  { rules: guardRules },
  outputsCompiler,
  compilerPart,
  { rules: sandboxRules },
  tutorCompiler,
];

export const IN_FORCE = rulesInForce(MODULES);

export type TestFiles = Readonly<Record<string, string | Uint8Array | MemoryFile>>;

/** Paths are relative to the project; `~/.hookwright/` is the home. */
export function compileFiles(files: TestFiles, input: Partial<CompileInput> = {}): CompileResult {
  const absolute = Object.entries(files).map(([path, file]) => [absolutePath(path), file] as const);
  return compile({
    files: memoryFiles(Object.fromEntries(absolute)),
    cwd: PROJECT,
    home: HOME,
    configs: [],
    env: { HOME: '/home/user' },
    flags: {},
    catalog: CATALOG,
    jobs: [],
    modules: MODULES,
    ...input,
  });
}

/** @param path relative to the project, or to the user's home (`~/`). */
export const absolutePath = (path: string): string =>
  path.startsWith('~/') ? `/home/user/${path.slice(2)}` : resolve(PROJECT, path);

export const compileConfig = (config: string, input: Partial<CompileInput> = {}): CompileResult =>
  compileFiles({ 'hookwright.yaml': config }, input);

/** As the documentation of a rule shows it. */
export const compileExample = ({ config, files, mode }: Example): CompileResult =>
  compileFiles({ [ROOT_FILE]: { content: config, mode }, ...files });

/** Diagnostics as a user sees them, without colours. */
export const printed = ({ diagnostics }: CompileResult): string =>
  printPretty(diagnostics, { color: false, width: 100 });
