/** What a module adds to the compiler. */

import type { Files } from './source/files.ts';
import type { Report } from './source/report.ts';
import type { LoadedCatalog } from './stages/catalog.ts';
import type { PayloadFacts, ViewRule } from './views/views.ts';

/** One module's part of the compiler; loaded before a compile. */
export interface CompilerPart {
  /** Rules beside the core's. */
  readonly rules: readonly ViewRule[];
  /** What is known of payloads; at most one module has it. Problems of the config's own files are reported. */
  readonly payloads: ((input: PayloadInput, report: Report) => PayloadFacts) | null;
}

export interface PayloadInput {
  readonly catalog: LoadedCatalog;
  readonly files: Files;
  readonly cwd: string;
}
