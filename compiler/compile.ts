/** Compiles config files to the bytes of the tables: read, validate, lower and check, emit. */
import type { Catalog as PublishedCatalog, RouteTable } from '../schemas/generated/types.ts';
import { publish } from './blueprints/publish.ts';
import { checkConfig } from './check-config.ts';
import type { CompileInput } from './compile-input.ts';
import type { TableContent } from './config/table-content.ts';
import type { Diagnostic } from './diagnostics/diagnostic.ts';
import { hasErrors } from './diagnostics/diagnostic.ts';
import type { RuleId } from './diagnostics/rule.ts';
import { emitTable } from './emit/emit-table.ts';
import { lowerConfig } from './lower-config.ts';
import type { Report } from './report.ts';
import { createReport } from './report.ts';
import { displayPath } from './source/display-path.ts';
import { loadConfig } from './source/load-config.ts';
import { recordFiles } from './source/record-files.ts';
import { mergeFiles } from './source/source-tree.ts';

export type { CompileInput };

export interface CompileResult {
  /** The diagnostics of all files, sorted, including warnings. */
  readonly diagnostics: readonly Diagnostic<RuleId>[];
  /** Path of the root config file; `build/` is in the same folder. */
  readonly root: string;
  /** Names of the config files that were read, in the order in which they were named. */
  readonly files: readonly string[];
  /** Names of configs that exist but were not read, because another one takes precedence. */
  readonly ignored: readonly string[];
  /** Absolute paths that the result depends on: files that were read or looked for, and folders that were listed. */
  readonly inputs: readonly string[];
  /** Null if a diagnostic is an error. */
  readonly output: CompileOutput | null;
}

export interface CompileOutput {
  readonly table: RouteTable;
  /** Creates the published blueprints; lazy, because few commands need them. */
  readonly catalog: () => PublishedCatalog;
  /** Bytes of `routes.json`, see emit/emit-table.ts. */
  readonly routesJson: string;
  /** The table contains a literal secret, so only the owner may read its file. */
  readonly hasLiteralSecrets: boolean;
}

/** Reports every problem in every file as a diagnostic; never throws because of user input. */
export function compile(input: CompileInput): CompileResult {
  const recorded = recordFiles(input.files);
  const content = { ...input, files: recorded.files };
  const report = createReport();
  const { root, files, ignored, table } = read(content, report);
  const diagnostics = report.diagnostics();
  const output = table === null || hasErrors(diagnostics) ? null : emit(table);
  const names = ignored.map((path) => displayPath(path, input.cwd));
  return { diagnostics, root, files, ignored: names, inputs: recorded.paths(), output };
}

interface Read extends Pick<CompileResult, 'root' | 'files' | 'ignored'> {
  readonly table: TableContent | null;
}

function read(input: CompileInput, report: Report): Read {
  const loaded = loadConfig(input);
  const { root, ignored } = loaded;
  const about = { root, ignored, files: loaded.files.map(({ source }) => source.name) };
  report.add(loaded.findings);
  if (loaded.files.length === 0) return { ...about, table: null };
  const { tree, findings } = mergeFiles(loaded.files);
  report.add(findings);
  const checked = checkConfig('config', { value: tree.value, tree }, report);
  // Names that are defined in the missing files would be reported as unknown.
  if (loaded.incomplete) return { ...about, table: null };
  return { ...about, table: lowerConfig({ input, root, tree, checked }, report) };
}

function emit(content: TableContent): CompileOutput {
  const { table, text } = emitTable(content);
  return {
    table,
    catalog: () => publish(Object.values(table.blueprints), table.app_scheme),
    routesJson: text,
    hasLiteralSecrets: LITERAL_SECRET.test(text),
  };
}

/** Matches a literal secret; the `scope` distinguishes it from the literals of templates. */
const LITERAL_SECRET = /"kind":"literal","value":"(?:[^"\\]|\\.)*","scope":/;
